//! Cyrillic charsets. All of them decode all bytes, so a wrong declaration shows only in the letters: they are others,
//! and capitals follow small letters.

use encoding_rs::{Encoding, IBM866, ISO_8859_5, KOI8_R, KOI8_U, WINDOWS_1251, X_MAC_CYRILLIC};

pub(super) const CYRILLIC: [&Encoding; 6] = [WINDOWS_1251, KOI8_R, KOI8_U, ISO_8859_5, IBM866, X_MAC_CYRILLIC];

/// Bytes decoded to compare charsets, and letters below which nothing is decided.
const SAMPLE: usize = 8 << 10;
const FEW: u32 = 20;

/// Frequent letters of the languages written in Cyrillic: in them more than half of all letters, in wrongly decoded text
/// less than a third.
const FREQUENT: &str = "оеаинтсрвл";

/// Difference of [`plausibility`] beyond which another charset counts.
const CLEARLY: f32 = 0.1;

/// The charset that the bytes are in, if it is clearly another than the declared one.
pub(super) fn likelier(declared: &'static Encoding, sample: &[u8]) -> Option<&'static Encoding> {
    let sample = &sample[..sample.len().min(SAMPLE)];
    let own = plausibility(declared, sample)?;
    let others = CYRILLIC.iter().filter_map(|other| Some((*other, plausibility(other, sample)?)));
    // The first of several alike.
    let (best, score) = others.fold((declared, own), |best, other| if other.1 > best.1 { other } else { best });
    (score > own + CLEARLY).then_some(best)
}

/// The share of frequent letters among the characters beyond ASCII, less that of signs and capitals after small letters.
/// None if there are few characters.
fn plausibility(encoding: &'static Encoding, sample: &[u8]) -> Option<f32> {
    let (text, _) = encoding.decode_without_bom_handling(sample);
    let (mut all, mut frequent, mut inverted) = (0, 0, 0);
    let mut after_small = false;
    for c in text.chars() {
        if !c.is_ascii() {
            all += 1;
            frequent += u32::from(c.to_lowercase().any(|small| FREQUENT.contains(small)));
            inverted += u32::from(after_small && (c.is_uppercase() || is_sign(c)));
        }
        after_small = c.is_lowercase() && !c.is_ascii();
    }
    (all >= FEW).then(|| (frequent as f32 - inverted as f32) / all as f32)
}

/// A sign that never follows a letter without a blank.
fn is_sign(c: char) -> bool {
    !c.is_alphabetic() && !matches!(c, '\u{2010}'..='\u{2027}' | '«' | '»' | '\u{a0}' | '°')
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXTS: [&str; 4] = [
        "Тропа начинается у каменного моста, идёт вдоль ручья два километра и затем поворачивает на север.",
        "Стежка починається біля кам'яного мосту, йде вздовж струмка два кілометри, а потім повертає на північ.",
        "Пътеката започва от каменния мост, върви покрай потока два километра и след това завива на север.",
        "ТРОПА НАЧИНАЕТСЯ У КАМЕННОГО МОСТА И ПОВОРАЧИВАЕТ НА СЕВЕР",
    ];

    #[test]
    fn each_charset_is_recognised_under_the_names_of_the_others() {
        for text in TEXTS {
            for encoding in CYRILLIC {
                let (bytes, _, lossy) = encoding.encode(text);
                // Those of Windows and of the Macintosh have nearly the same letters.
                let are_near = |declared: &Encoding| {
                    [encoding, declared].iter().all(|one| [WINDOWS_1251, X_MAC_CYRILLIC].contains(one))
                };
                for declared in CYRILLIC.into_iter().filter(|declared| !lossy && !are_near(declared)) {
                    let chosen = likelier(declared, &bytes).unwrap_or(declared);
                    let (read, _) = chosen.decode_without_bom_handling(&bytes);
                    let same = read.chars().zip(text.chars()).filter(|(read, own)| read == own).count();
                    assert!(
                        same * 10 >= text.chars().count() * 9,
                        "{} as {}: {read}",
                        encoding.name(),
                        declared.name()
                    );
                }
            }
        }
        assert_eq!(likelier(WINDOWS_1251, WINDOWS_1251.encode("Тропа").0.as_ref()), None, "few letters");
    }
}
