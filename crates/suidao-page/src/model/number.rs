//! Numbers in JSON.

use serde_json::{Number, Value};

/// Writes every number that is exactly an f32 in its short form, such as 0.85: as exports do, which serialise the f32.
pub fn plain(value: Value) -> Value {
    each(value, &|number| {
        #[allow(clippy::cast_possible_truncation)] // lossy if the value is not an f32
        let short = number as f32;
        let is_short = f64::from(short).to_bits() == number.to_bits();
        if is_short { short.to_string().parse().unwrap_or(number) } else { number }
    })
}

fn each(value: Value, change: &dyn Fn(f64) -> f64) -> Value {
    match value {
        Value::Number(number) if number.is_f64() => {
            let changed = number.as_f64().map(change).and_then(Number::from_f64);
            Value::Number(changed.unwrap_or(number))
        }
        Value::Array(values) => values.into_iter().map(|value| each(value, change)).collect(),
        Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, each(value, change))).collect(),
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn numbers_are_reported_as_people_write_them() {
        let result = json!({ "a": [0.85f32, 0.017_028_576f32], "b": 1.0 / 24.0, "c": 7, "d": "0.8500000238", "e": 1e-30, "f": 0.0 });
        let text = plain(result).to_string();
        assert_eq!(
            text,
            r#"{"a":[0.85,0.017028576],"b":0.041666666666666664,"c":7,"d":"0.8500000238","e":1e-30,"f":0.0}"#
        );
    }
}
