//! Validators of responses, and when they are answered with 304 (RFC 9110, 8.8 and 13), by a host's profile.

use jiff::fmt::rfc2822;

use super::spec::ValidatorPolicy;

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct SentValidators {
    pub etag: Option<String>,
    /// `Last-Modified`, in seconds since 1970.
    pub modified: Option<i64>,
}

pub(super) struct Version<'a> {
    pub body: &'a [u8],
    /// Number of changes of the main text; `None` for files.
    pub number: Option<u32>,
    /// Time of the last change, in seconds since 1970.
    pub changed: i64,
    /// Unique to the response.
    pub nonce: u64,
}

impl Version<'_> {
    pub fn validators(&self, policy: ValidatorPolicy) -> SentValidators {
        let body = xxhash_rust::xxh3::xxh3_64(self.body);
        let modified = Some(self.changed);
        match policy {
            ValidatorPolicy::Strong => SentValidators { etag: Some(format!("\"{body:016x}\"")), modified },
            ValidatorPolicy::Weak => {
                let version = self.number.map_or(format!("{body:016x}"), |number| number.to_string());
                SentValidators { etag: Some(format!("W/\"{version}\"")), modified: None }
            }
            ValidatorPolicy::Dated => SentValidators { etag: None, modified },
            ValidatorPolicy::NoValidators => SentValidators::default(),
            ValidatorPolicy::UnstableEtag => {
                SentValidators { etag: Some(format!("\"{body:016x}-{}\"", self.nonce)), modified: None }
            }
            ValidatorPolicy::Always304 => SentValidators { etag: Some("\"1\"".to_owned()), modified: None },
        }
    }
}

/// Whether a request with these fields is answered with 304.
pub(super) fn not_modified(validators: &SentValidators, policy: ValidatorPolicy, fields: &[(String, String)]) -> bool {
    let field = |name: &str| fields.iter().find(|(field, _)| field == name).map(|(_, value)| value.trim());
    let (tags, since) = (field("if-none-match"), field("if-modified-since"));
    if policy == ValidatorPolicy::Always304 {
        return tags.is_some() || since.is_some();
    }
    // If both are sent, the first decides (13.1.3).
    if let Some(tags) = tags {
        // Tags are compared weakly (13.1.2).
        let strong = |tag: &str| tag.trim().trim_start_matches("W/").to_owned();
        return validators
            .etag
            .as_ref()
            .is_some_and(|own| tags == "*" || tags.split(',').any(|tag| strong(tag) == strong(own)));
    }
    let since = since.and_then(|since| Some(rfc2822::parse(since).ok()?.timestamp().as_second()));
    since.zip(validators.modified).is_some_and(|(since, modified)| modified <= since)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn version(body: &'static str, number: u32, changed: i64) -> Version<'static> {
        Version { body: body.as_bytes(), number: Some(number), changed, nonce: 1 }
    }

    fn request(name: &str, value: &str) -> Vec<(String, String)> {
        vec![(name.to_owned(), value.to_owned())]
    }

    #[test]
    fn a_strong_tag_goes_with_the_bytes_a_weak_one_with_the_text() {
        let (first, with_clock) = (version("a", 1, 5), version("a, 12:00", 1, 5));
        assert_ne!(first.validators(ValidatorPolicy::Strong).etag, with_clock.validators(ValidatorPolicy::Strong).etag);
        assert_eq!(first.validators(ValidatorPolicy::Weak), with_clock.validators(ValidatorPolicy::Weak));
        assert_ne!(first.validators(ValidatorPolicy::Weak), version("a", 2, 5).validators(ValidatorPolicy::Weak));
        assert_eq!(first.validators(ValidatorPolicy::NoValidators), SentValidators::default());
        let again = Version { nonce: 2, ..version("a", 1, 5) };
        assert_ne!(first.validators(ValidatorPolicy::UnstableEtag), again.validators(ValidatorPolicy::UnstableEtag));
    }

    #[test]
    fn conditions_are_judged_as_in_rfc_9110() {
        let validators = SentValidators { etag: Some("\"a\"".to_owned()), modified: Some(784_111_777) };
        let unmodified = |fields: &[(String, String)]| not_modified(&validators, ValidatorPolicy::Strong, fields);
        assert!(!unmodified(&[]));
        for (value, want) in [("\"a\"", true), ("\"b\", W/\"a\"", true), ("*", true), ("\"b\"", false), ("a", false)] {
            assert_eq!(unmodified(&request("if-none-match", value)), want, "{value}");
        }
        for (value, want) in [
            ("Sun, 06 Nov 1994 08:49:37 GMT", true),
            ("Sun, 06 Nov 1994 08:49:36 GMT", false),
            ("Mon, 07 Nov 1994 00:00:00 GMT", true),
            ("soon", false),
        ] {
            assert_eq!(unmodified(&request("if-modified-since", value)), want, "{value}");
        }
        let both = [request("if-none-match", "\"b\""), request("if-modified-since", "Mon, 07 Nov 1994 00:00:00 GMT")];
        assert!(!unmodified(&both.concat()), "the tag decides");
    }

    #[test]
    fn an_always_304_server_answers_304_to_everyone() {
        let validators = version("a", 1, 5).validators(ValidatorPolicy::Always304);
        assert!(!not_modified(&validators, ValidatorPolicy::Always304, &[]));
        assert!(not_modified(&validators, ValidatorPolicy::Always304, &request("if-none-match", "\"other\"")));
        assert!(not_modified(&validators, ValidatorPolicy::Always304, &request("if-modified-since", "whenever")));
    }
}
