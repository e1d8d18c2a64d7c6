//! Reads what a judge answered. Nothing here panics or waits, whatever the bytes are.

use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::error::Category;

use suidao_page::topic::UnitVector;

use super::JudgeFailure;

/// What a judge thinks of a text.
#[derive(Clone, Debug, PartialEq)]
pub enum Answer {
    Vector(UnitVector),
    Verdict(Verdict),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    Yes,
    No,
    Unsure,
}

impl Verdict {
    /// The first word, also after what a model has thought aloud.
    fn parse(text: &str) -> Option<Self> {
        let said = text.rsplit_once("</think>").map_or(text, |(_, said)| said);
        let word = said.split(|character: char| !character.is_alphabetic()).find(|word| !word.is_empty())?;
        match word.to_lowercase().as_str() {
            "yes" => Some(Self::Yes),
            "no" => Some(Self::No),
            "unsure" => Some(Self::Unsure),
            _ => None,
        }
    }
}

#[derive(Deserialize)]
struct Embeddings {
    data: Vec<Embedding>,
}

#[derive(Deserialize)]
struct Embedding {
    index: Option<usize>,
    embedding: Vec<f32>,
}

#[derive(Deserialize)]
struct Completion {
    choices: Vec<Choice>,
}

#[derive(Deserialize)]
struct Choice {
    message: Message,
}

#[derive(Deserialize)]
struct Message {
    content: String,
}

/// A line of a command.
#[derive(Deserialize)]
struct Line {
    id: u64,
    vector: Option<Vec<f32>>,
    answer: Option<String>,
}

/// Reads the vectors of this many texts.
pub(super) fn embeddings(body: &[u8], texts: usize) -> Vec<Result<Answer, JudgeFailure>> {
    let read: Embeddings = match json(body) {
        Ok(read) => read,
        Err(failure) => return vec![Err(failure); texts],
    };
    let mut answers = vec![Err(JudgeFailure::Nonsense); texts];
    for (place, Embedding { index, embedding }) in read.data.into_iter().enumerate() {
        if let Some(answer) = answers.get_mut(index.unwrap_or(place)) {
            *answer = vector(&embedding);
        }
    }
    answers
}

/// Reads the verdict of a chat.
pub(super) fn completion(body: &[u8]) -> Result<Answer, JudgeFailure> {
    let Completion { choices } = json(body)?;
    let said = choices.first().and_then(|choice| Verdict::parse(&choice.message.content));
    said.map(Answer::Verdict).ok_or(JudgeFailure::Nonsense)
}

/// Reads a line of a command: the number of the text, if it says one, and the answer.
pub(super) fn line(line: &[u8]) -> (Option<u64>, Result<Answer, JudgeFailure>) {
    match json::<Line>(line) {
        Ok(Line { id, vector: Some(numbers), answer: None }) => (Some(id), vector(&numbers)),
        Ok(Line { id, vector: None, answer: Some(said) }) => {
            (Some(id), Verdict::parse(&said).map(Answer::Verdict).ok_or(JudgeFailure::Nonsense))
        }
        Ok(Line { id, .. }) => (Some(id), Err(JudgeFailure::Nonsense)),
        Err(failure) => (None, Err(failure)),
    }
}

fn vector(numbers: &[f32]) -> Result<Answer, JudgeFailure> {
    Ok(Answer::Vector(UnitVector::new(numbers)?))
}

fn json<T: DeserializeOwned>(bytes: &[u8]) -> Result<T, JudgeFailure> {
    serde_json::from_slice(bytes).map_err(|error| {
        // Some libraries write these words, which JSON does not have.
        let has = |word: &[u8]| bytes.windows(word.len()).any(|part| part == word);
        match error.classify() {
            _ if has(b"NaN") || has(b"Infinity") => JudgeFailure::NotFinite,
            _ if error.to_string().contains("number out of range") => JudgeFailure::NotFinite,
            Category::Eof => JudgeFailure::Incomplete,
            Category::Syntax | Category::Data | Category::Io => JudgeFailure::Nonsense,
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn unit(numbers: &[f32]) -> Result<Answer, JudgeFailure> {
        Ok(Answer::Vector(UnitVector::new(numbers).unwrap()))
    }

    #[test]
    fn vectors_are_read_in_any_order() {
        let body =
            br#"{"object":"list","data":[{"index":1,"embedding":[0,2]},{"index":0,"embedding":[3,0]}],"usage":{}}"#;
        assert_eq!(embeddings(body, 2), [unit(&[1.0, 0.0]), unit(&[0.0, 1.0])]);
        let missing = br#"{"data":[{"embedding":[1]},{"index":9,"embedding":[1]}]}"#;
        assert_eq!(embeddings(missing, 2), [unit(&[1.0]), Err(JudgeFailure::Nonsense)]);
    }

    #[test]
    fn what_is_wrong_with_an_answer_is_named() {
        for (body, wanted) in [
            ("it works!", JudgeFailure::Nonsense),
            ("{\"data\":[{\"embedding\":\"x\"}]}", JudgeFailure::Nonsense),
            ("{\"data\":[{\"embedding\":[null]}]}", JudgeFailure::Nonsense),
            ("{\"data\":[]}", JudgeFailure::Nonsense),
            ("{\"data\":[{\"embedding\":[NaN]}]}", JudgeFailure::NotFinite),
            ("{\"data\":[{\"embedding\":[1e999]}]}", JudgeFailure::NotFinite),
            ("{\"data\":[{\"embedding\":[1e39,1]}]}", JudgeFailure::NotFinite),
            ("{\"data\":[{\"embedding\":[0,0]}]}", JudgeFailure::NotFinite),
            ("{\"data\":[{\"embedding\":[]}]}", JudgeFailure::Dimension),
            ("{\"data\":[{\"embedd", JudgeFailure::Incomplete),
            ("", JudgeFailure::Incomplete),
        ] {
            assert_eq!(embeddings(body.as_bytes(), 1), [Err(wanted)], "{body}");
        }
        let deep = "[".repeat(100_000);
        assert_eq!(embeddings(deep.as_bytes(), 1), [Err(JudgeFailure::Nonsense)]);
    }

    #[test]
    fn a_chat_answers_with_its_first_word() {
        let said = |text: &str| {
            let body = serde_json::json!({ "choices": [{ "message": { "role": "assistant", "content": text } }] });
            completion(body.to_string().as_bytes())
        };
        for (text, verdict) in [
            ("yes", Verdict::Yes),
            (" **No**, it sells shoes.", Verdict::No),
            ("<think>yes or no?</think>\nUnsure.", Verdict::Unsure),
        ] {
            assert_eq!(said(text), Ok(Answer::Verdict(verdict)), "{text}");
        }
        for text in ["", "maybe", "I think yes", "1"] {
            assert_eq!(said(text), Err(JudgeFailure::Nonsense), "{text}");
        }
    }

    #[test]
    fn a_line_has_one_answer() {
        assert_eq!(line(br#"{"id":3,"vector":[2]}"#), (Some(3), unit(&[1.0])));
        assert_eq!(line(br#"{"id":3,"answer":"no"}"#), (Some(3), Ok(Answer::Verdict(Verdict::No))));
        assert_eq!(line(br#"{"id":3}"#), (Some(3), Err(JudgeFailure::Nonsense)));
        assert_eq!(line(br#"{"id":3,"vector":[1],"answer":"no"}"#).1, Err(JudgeFailure::Nonsense));
        assert_eq!(line(b"Loading model"), (None, Err(JudgeFailure::Nonsense)));
        assert_eq!(line(br#"{"id":3,"vec"#), (None, Err(JudgeFailure::Incomplete)));
    }

    proptest::proptest! {
        #[test]
        fn reading_never_panics(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..80)) {
            let _ = (embeddings(&bytes, 2), completion(&bytes), line(&bytes));
        }
    }
}
