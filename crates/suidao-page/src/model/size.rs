//! Sizes in bytes as people write them, in flags and configuration keys.

use serde::{Deserialize, Deserializer, de::Error};

/// Parses a number of bytes: `1500000`, `2GB` (10^9), `2GiB` (2^30), `1.5 MB`.
pub fn parse(text: &str) -> Result<u64, String> {
    let wrong = || format!("{text} is not a size; write 500MB, 2GB, 1.5GiB or 2000000000");
    let split = text.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text.len());
    let (number, unit) = (&text[..split], text[split..].trim());
    let factor = match unit.to_ascii_lowercase().as_str() {
        "" | "b" => 1.0,
        "k" | "kb" => 1e3,
        "m" | "mb" => 1e6,
        "g" | "gb" => 1e9,
        "t" | "tb" => 1e12,
        "kib" => 1024.0,
        "mib" => 1_048_576.0,
        "gib" => 1_073_741_824.0,
        "tib" => 1_099_511_627_776.0,
        _ => return Err(wrong()),
    };
    let number: f64 = number.parse().map_err(|_| wrong())?;
    let bytes = (number * factor).round();
    (bytes < 1e18).then_some(bytes as u64).ok_or_else(wrong)
}

/// A number or such a text.
pub fn deserialize<'de, D: Deserializer<'de>, T: TryFrom<u64>>(deserializer: D) -> Result<T, D::Error> {
    #[derive(Deserialize)]
    #[serde(untagged, expecting = "expected a size such as 500MB, 1.5GiB or 2000000000")]
    enum Written {
        Number(u64),
        Text(String),
    }
    let size = match Written::deserialize(deserializer)? {
        Written::Number(number) => number,
        Written::Text(text) => parse(&text).map_err(D::Error::custom)?,
    };
    T::try_from(size).map_err(|_| D::Error::custom(format!("{size} bytes are too many")))
}

/// As [`deserialize`], for keys without a default.
pub fn optional<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u64>, D::Error> {
    deserialize(deserializer).map(Some)
}

#[cfg(test)]
mod tests {
    use super::parse;

    #[test]
    fn sizes_have_decimal_and_binary_units() {
        for (text, size) in [
            ("1500000", 1_500_000),
            ("2GB", 2_000_000_000),
            ("1.5GB", 1_500_000_000),
            ("1.5 MiB", 1_572_864),
            ("10k", 10_000),
        ] {
            assert_eq!(parse(text), Ok(size), "{text}");
        }
        for wrong in ["", "GB", "2 barrels", "-1", "1e9", "9999999999TB"] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }
}
