//! A second opinion about pages near the boundary: a linear model over the vectors that an embedding model gives to
//! title and beginning of a page. It is learnt with the lexicon and stored in its section `[judge]`.
//!
//! ```text
//! near the boundary:  S = text + 0.75 tags + weight × d × opinion      opinion = weights·vector − boundary
//! ```
//!
//! Text and tags are the two parts of the linear judge's S, and d is the distance of its boundary from the median of
//! the background. The opinion of the median background page is −1, so opinion and S have one scale, however many pages
//! they were learnt from. Vectors come from outside, so this module checks them; who asks for them, and how, is not its
//! concern.

mod file;
mod learn;

use thiserror::Error;

pub(super) use file::JudgeSection;
pub use learn::{OpinionError, TrainingPages};

use crate::read::ParsedDocument;

/// Most numbers of a vector.
pub const MAX_DIMENSION: usize = 4096;
/// Least cosine of the vector of [`CHECK`] with that of the model that the lexicon was learnt with. Quantisations of
/// one model differ by less, models by more.
pub const SAME_MODEL: f64 = 0.98;
/// The sentence that identifies a model. Must not change.
pub const CHECK: &str = "水沸腾时变成蒸汽。 Water turns to steam when it boils.";
/// Weight of the page's own tags beside a second opinion; flat from .5 to .75.
pub(super) const TAGS: f64 = 0.75;

/// When a second opinion is asked for, and how much it counts.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct OpinionUse {
    /// Largest distance of a page's S from the boundary, as a share of d; above 0.
    pub band: f64,
    /// Weight of the opinion; above 0.
    pub weight: f64,
    /// About how many tokens of a page are shown.
    pub tokens: u32,
}

impl Default for OpinionUse {
    fn default() -> Self {
        Self { band: 0.5, weight: 1.0, tokens: 128 }
    }
}

/// The section `[judge]` of a lexicon.
#[derive(Clone, Debug, PartialEq)]
pub struct SecondOpinion {
    /// Name of the embedding model.
    pub model: String,
    /// Text that the model wants before each text.
    pub prefix: String,
    pub usage: OpinionUse,
    /// Product of weights and vector of a page on the boundary.
    pub boundary: f64,
    /// One for each number of a vector.
    pub weights: Vec<f32>,
    /// Vector of [`CHECK`], of length 1.
    pub check: Vec<f32>,
}

impl SecondOpinion {
    /// The opinion of a page with this vector of length 1: above 0 for the topic.
    pub fn of(&self, vector: &UnitVector) -> Result<f64, VectorError> {
        vector.expect(self.weights.len())?;
        Ok(vector.product(&self.weights) - self.boundary)
    }

    /// The cosine of this vector of [`CHECK`] with that of the model that the lexicon was learnt with.
    pub fn likeness(&self, check: &UnitVector) -> Result<f64, VectorError> {
        check.expect(self.check.len())?;
        Ok(check.product(&self.check))
    }
}

/// Why a vector cannot be used.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Error)]
pub enum VectorError {
    #[error("a vector with {found} numbers instead of {wanted}")]
    Dimension { found: usize, wanted: usize },
    #[error("a vector of 0 or more than {MAX_DIMENSION} numbers")]
    Size,
    #[error("a vector that is 0, or holds a number that is not finite")]
    NotFinite,
}

/// A vector of length 1.
#[derive(Clone, Debug, PartialEq)]
pub struct UnitVector(Vec<f32>);

impl UnitVector {
    /// Scales the numbers to length 1.
    pub fn new(numbers: &[f32]) -> Result<Self, VectorError> {
        if numbers.is_empty() || numbers.len() > MAX_DIMENSION {
            return Err(VectorError::Size);
        }
        let length = numbers.iter().map(|&number| f64::from(number).powi(2)).sum::<f64>().sqrt();
        if !length.is_finite() || length < f64::from(f32::MIN_POSITIVE) {
            return Err(VectorError::NotFinite);
        }
        Ok(Self(numbers.iter().map(|&number| (f64::from(number) / length) as f32).collect()))
    }

    pub fn numbers(&self) -> &[f32] {
        &self.0
    }

    fn expect(&self, wanted: usize) -> Result<(), VectorError> {
        let found = self.0.len();
        if found == wanted { Ok(()) } else { Err(VectorError::Dimension { found, wanted }) }
    }

    fn product(&self, other: &[f32]) -> f64 {
        self.0.iter().zip(other).map(|(one, two)| f64::from(*one) * f64::from(*two)).sum()
    }
}

/// The text that a judge reads: title and beginning of the main content, of about this many tokens. Empty if the page
/// has no text.
pub fn opening(document: &ParsedDocument, tokens: u32) -> String {
    opening_of(document.content().map(|piece| document.piece(piece)), tokens)
}

/// As [`opening`], of the pieces of a text.
pub fn opening_of<'a>(pieces: impl Iterator<Item = &'a str>, tokens: u32) -> String {
    let mut left = u64::from(tokens) * TOKEN;
    let mut text = String::new();
    for piece in pieces {
        for character in piece.chars() {
            let cost = if character.is_ascii() { ASCII } else { OTHER };
            if left < cost {
                return text.trim_end().to_owned();
            }
            left -= cost;
            match (character.is_whitespace() || character.is_control(), text.ends_with(' ')) {
                (true, true) => {}
                (true, false) => text.push(' '),
                (false, _) => text.push(character),
            }
        }
        if !text.ends_with(' ') {
            text.push(' ');
        }
    }
    text.trim().to_owned()
}

/// Multilingual models cut Chinese into about two tokens for three characters, and English into one for four.
const TOKEN: u64 = 12;
const OTHER: u64 = 8;
const ASCII: u64 = 3;

#[cfg(test)]
mod tests {
    use super::super::Sample;
    use super::*;

    #[test]
    fn only_a_finite_vector_of_the_right_size_has_an_opinion() {
        let opinion = SecondOpinion {
            model: "m".to_owned(),
            prefix: String::new(),
            usage: OpinionUse::default(),
            boundary: 0.5,
            weights: vec![1.0, 0.0],
            check: vec![0.6, 0.8],
        };
        let vector = |numbers: &[f32]| UnitVector::new(numbers);
        assert_eq!(opinion.of(&vector(&[7.0, 0.0]).unwrap()), Ok(0.5));
        assert!((opinion.likeness(&vector(&[3.0, 4.0]).unwrap()).unwrap() - 1.0).abs() < 1e-6);
        let other = opinion.of(&vector(&[1.0; 3]).unwrap());
        assert_eq!(other, Err(VectorError::Dimension { found: 3, wanted: 2 }));
        for wrong in [&[f32::NAN, 1.0][..], &[f32::INFINITY, 1.0], &[0.0, 0.0]] {
            assert_eq!(vector(wrong), Err(VectorError::NotFinite));
        }
        assert_eq!((vector(&[]), vector(&[1.0; MAX_DIMENSION + 1])), (Err(VectorError::Size), Err(VectorError::Size)));
    }

    #[test]
    fn a_judge_reads_about_as_many_tokens_as_it_should() {
        let chinese = Sample::from_text("a.txt", "", &"机器学习".repeat(1000));
        assert_eq!(opening(&chinese.document, 128).chars().count(), 192);
        let english = Sample::from_text("a.txt", "", &"deep  learning\n".repeat(1000));
        let text = opening(&english.document, 128);
        assert!(text.starts_with("deep learning deep ") && text.len() > 400 && text.len() <= 512, "{text}");
        assert_eq!(opening(&Sample::from_text("a.txt", "", " \n ").document, 128), "");
    }
}
