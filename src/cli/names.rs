//! Values of flags: names of a library enum, and bounded numbers.

use clap::builder::{PossibleValue, PossibleValuesParser, TypedValueParser};
use strum::{EnumMessage, VariantArray};

/// A parser for the names of `T`; the doc comments of its variants are their help.
pub fn one_of<T>() -> impl TypedValueParser<Value = T>
where
    T: VariantArray + EnumMessage + Copy + Into<&'static str> + Send + Sync,
{
    let values = T::VARIANTS.iter().map(|&value| {
        let name = PossibleValue::new(value.into());
        value.get_documentation().map_or(name.clone(), |help| name.help(help))
    });
    PossibleValuesParser::new(values).map(|name| {
        let found = T::VARIANTS.iter().find(|&&value| -> bool { name == Into::<&'static str>::into(value) });
        *found.expect("the parser takes the names of variants alone")
    })
}

/// A parser for numbers from `least` to `most`.
pub fn between(least: f64, most: f64) -> impl Fn(&str) -> Result<f64, String> + Clone {
    move |text| {
        let number = text.parse().ok().filter(|number| (least..=most).contains(number));
        number.ok_or_else(|| format!("must be a number from {least} to {most}"))
    }
}
