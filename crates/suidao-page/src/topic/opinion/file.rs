//! The section `[judge]` of a lexicon file. Vectors are the base64 of 32-bit numbers, the lowest byte first.

use std::fmt::Write as _;

use data_encoding::BASE64;
use serde::Deserialize;
use toml::Value;

use super::{MAX_DIMENSION, OpinionUse, SecondOpinion};

/// Characters of a line of base64.
const WIDTH: usize = 116;

/// `[judge]` as written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
pub(in crate::topic) struct JudgeSection {
    model: String,
    #[serde(default)]
    prefix: String,
    band: f64,
    weight: f64,
    tokens: u32,
    boundary: f64,
    weights: String,
    check: String,
}

impl JudgeSection {
    /// Checks the values. The message names the key.
    pub(in crate::topic) fn opinion(self) -> Result<SecondOpinion, String> {
        let Self { model, prefix, band, weight, tokens, boundary, weights, check } = self;
        for (key, value, most) in [("band", band, 100.0), ("weight", weight, 100.0)] {
            if !(value > 0.0 && value <= most) {
                return Err(format!("judge.{key} must be a number above 0 and at most {most}, not {value}"));
            }
        }
        if !(1..=8192).contains(&tokens) {
            return Err(format!("judge.tokens must be from 1 to 8192, not {tokens}"));
        }
        if !boundary.is_finite() {
            return Err(format!("judge.boundary must be a number, not {boundary}"));
        }
        let (weights, check) = (vector("weights", &weights)?, vector("check", &check)?);
        if weights.len() != check.len() {
            return Err(format!(
                "judge.weights has {} numbers and judge.check {}; both must have as many",
                weights.len(),
                check.len()
            ));
        }
        let usage = OpinionUse { band, weight, tokens };
        Ok(SecondOpinion { model, prefix, usage, boundary, weights, check })
    }
}

fn vector(key: &str, text: &str) -> Result<Vec<f32>, String> {
    let wrong = |what: &str| format!("judge.{key} {what}; build the lexicon again with suidao topic build --judge");
    let text: String = text.split_whitespace().collect();
    if text.len() > MAX_DIMENSION * 6 {
        return Err(wrong(&format!("has more than {MAX_DIMENSION} numbers")));
    }
    let bytes = BASE64.decode(text.as_bytes()).map_err(|_| wrong("is not base64"))?;
    let (numbers, rest) = bytes.as_chunks::<4>();
    let numbers: Vec<f32> = numbers.iter().map(|number| f32::from_le_bytes(*number)).collect();
    match () {
        () if !rest.is_empty() || numbers.is_empty() => Err(wrong("is not a whole number of 32-bit numbers")),
        () if numbers.len() > MAX_DIMENSION => Err(wrong(&format!("has more than {MAX_DIMENSION} numbers"))),
        () if numbers.iter().any(|number| !number.is_finite()) => Err(wrong("has a number that is not finite")),
        () => Ok(numbers),
    }
}

impl SecondOpinion {
    pub(in crate::topic) fn write(&self, out: &mut String) -> std::fmt::Result {
        let quoted = |text: &str| Value::String(text.to_owned()).to_string();
        writeln!(
            out,
            "# A second opinion where S is at most band x d from the boundary of [linear], d = linear.boundary - \
             linear.median:\n# S = text + 0.75 tags + weight x d x (weights · vector - boundary). vector is what the model \
             gives to prefix +\n# title and beginning (about tokens long), of length 1; check that of a fixed sentence, \
             which identifies the model.\n# Both are base64 of 32-bit numbers.\n[judge]"
        )?;
        let OpinionUse { band, weight, tokens } = self.usage;
        writeln!(out, "model = {}\nprefix = {}", quoted(&self.model), quoted(&self.prefix))?;
        writeln!(out, "band = {band:?}\nweight = {weight:?}\ntokens = {tokens}\nboundary = {:?}", self.boundary)?;
        for (key, numbers) in [("weights", &self.weights), ("check", &self.check)] {
            let bytes: Vec<u8> = numbers.iter().flat_map(|number| number.to_le_bytes()).collect();
            let text = BASE64.encode(&bytes);
            writeln!(out, "{key} = '''")?;
            for start in (0..text.len()).step_by(WIDTH) {
                writeln!(out, "{}", &text[start..text.len().min(start + WIDTH)])?;
            }
            writeln!(out, "'''")?;
        }
        writeln!(out)
    }

    /// The section as text, which identifies the opinions.
    pub fn to_toml(&self) -> String {
        let mut out = String::new();
        // Writing to a String cannot fail.
        let _ = self.write(&mut out);
        out
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::Lexicon;
    use super::*;

    fn lexicon() -> Lexicon {
        let text = "name = 'x'\n[terms]\na = 1\n[linear]\nboundary = 0.5\nmedian = 0.0\n";
        let mut lexicon = Lexicon::parse(text).unwrap();
        let numbers: Vec<f32> = (0..384).map(|at| (at as f32 - 190.0) / 3000.0).collect();
        lexicon.judge = Some(SecondOpinion {
            model: "multilingual-e5-small".to_owned(),
            prefix: "query: ".to_owned(),
            usage: OpinionUse::default(),
            boundary: -0.1234,
            weights: numbers.clone(),
            check: numbers,
        });
        lexicon
    }

    #[test]
    fn a_second_opinion_is_written_and_read() {
        let text = lexicon().to_toml();
        assert_eq!(Lexicon::parse(&text).unwrap(), lexicon());
        assert_eq!(Lexicon::parse(&text).unwrap().to_toml(), text);
        assert!(text.lines().all(|line| line.len() < 125));
        let plain = Lexicon { judge: None, ..lexicon() };
        assert_ne!(plain.digest(), lexicon().digest());
    }

    #[test]
    fn each_wrong_value_is_named() {
        let text = lexicon().to_toml();
        let (before, after) = text.split_once("weights = '''\n").unwrap();
        let weights = after.split_once("'''").unwrap().0;
        let line = 1 + before.lines().position(|line| line == "[judge]").unwrap();
        let nan = BASE64.encode(&[0, 0, 192, 127]);
        for (from, to, wanted) in [
            ("band = 0.5", "band = 0.0", "judge.band"),
            ("weight = 1.0", "weight = nan", "judge.weight"),
            ("tokens = 128", "tokens = 0", "judge.tokens"),
            ("boundary = -0.1234", "boundary = inf", "judge.boundary"),
            (weights, "!!", "judge.weights is not base64"),
            (weights, "AAA=", "judge.weights is not a whole number"),
            (weights, nan.as_str(), "judge.weights has a number that is not finite"),
            (weights, "AAAAAA==", "judge.weights has 1 numbers and judge.check 384"),
        ] {
            let error = Lexicon::parse(&text.replacen(from, to, 1)).unwrap_err().to_string();
            assert!(error.starts_with(&format!("line {line}: {wanted}")), "{error}");
        }
        let long = BASE64.encode(&vec![0; 4 * (MAX_DIMENSION + 1)]);
        let error = Lexicon::parse(&text.replacen(weights, &long, 1)).unwrap_err().to_string();
        assert!(error.contains("more than 4096"), "{error}");
    }
}
