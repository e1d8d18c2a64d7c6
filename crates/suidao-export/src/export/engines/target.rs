//! The address of an index on a search server.

use reqwest::Url;
use reqwest::header::HeaderValue;
use xxhash_rust::xxh3::xxh3_64;

use super::push::PushError;

/// Where rows go: `http://host:9200/INDEX`, perhaps behind a path.
#[derive(Clone, Debug)]
pub struct Target {
    pub(super) base: Url,
    index: String,
    pub(super) authorization: Option<HeaderValue>,
}

impl Target {
    /// The index at an address; name and password in it become a header, and so does `authorization`, which goes first.
    ///
    /// # Errors
    /// [`PushError::Address`], [`PushError::Index`], [`PushError::Authorization`].
    pub fn parse(text: &str, authorization: Option<&str>) -> Result<Self, PushError> {
        let hidden = || match text.rsplit_once('@') {
            Some((_, behind)) => format!("...@{behind}"),
            None => text.to_owned(),
        };
        let mut base = Url::parse(text).map_err(|_| PushError::Address(hidden()))?;
        if !matches!(base.scheme(), "http" | "https") || base.cannot_be_a_base() || base.query().is_some() {
            return Err(PushError::Address(hidden()));
        }
        let path = base.path().trim_end_matches('/').to_owned();
        let (before, index) = path.rsplit_once('/').unwrap_or(("", ""));
        let index = percent_encoding::percent_decode_str(index).decode_utf8_lossy().into_owned();
        if index.is_empty() {
            return Err(PushError::Address(hidden()));
        }
        if !super::es_bulk::is_index_name(&index) {
            return Err(PushError::Index(index));
        }
        let own = (!base.username().is_empty()).then(|| {
            let decode = |text: &str| percent_encoding::percent_decode_str(text).decode_utf8_lossy().into_owned();
            let pair = format!("{}:{}", decode(base.username()), decode(base.password().unwrap_or_default()));
            format!("Basic {}", data_encoding::BASE64.encode(pair.as_bytes()))
        });
        let authorization = authorization.map(str::to_owned).or(own).map(|value| -> Result<HeaderValue, PushError> {
            let mut value = HeaderValue::from_str(&value).map_err(|_| PushError::Authorization)?;
            value.set_sensitive(true);
            Ok(value)
        });
        base.set_path(&format!("{before}/"));
        // Neither fails for http and https.
        let _ = (base.set_username(""), base.set_password(None));
        Ok(Self { base, index, authorization: authorization.transpose()? })
    }

    /// Name of the index.
    pub fn index(&self) -> &str {
        &self.index
    }

    /// The address without name and password.
    pub fn shown(&self) -> String {
        format!("{}{}", self.base, self.index)
    }

    /// What the target is remembered by: a name for files, equal for equal addresses.
    pub fn name(&self) -> String {
        format!("push-{:016x}", xxh3_64(self.shown().as_bytes()))
    }

    pub(super) fn server(&self) -> String {
        self.base.origin().ascii_serialization()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_names_an_index_and_shows_no_password() {
        let target = Target::parse("https://me:s%40cret@search.example.cn:9200/es/ml/", None).unwrap();
        assert_eq!((target.index(), target.shown().as_str()), ("ml", "https://search.example.cn:9200/es/ml"));
        assert_eq!(target.authorization.as_ref().unwrap(), "Basic bWU6c0BjcmV0");
        assert!(!format!("{target:?}").contains("bWU6"));
        let keyed = Target::parse("http://localhost:9200/机器学习", Some("ApiKey x")).unwrap();
        assert_eq!((keyed.index(), keyed.authorization.as_ref().unwrap().to_str().unwrap()), ("机器学习", "ApiKey x"));
        for bad in ["ml", "http://h:9200", "http://h:9200/", "ftp://h/ml", "http://h/ml?x=1", "http://me:geheim@h/"] {
            let message = Target::parse(bad, None).unwrap_err().to_string();
            assert!(message.contains("http://host:9200/INDEX") && !message.contains("geheim"), "{message}");
        }
        assert!(matches!(Target::parse("http://h/ML", None), Err(PushError::Index(_))));
        assert!(matches!(Target::parse("http://h/ml", Some("a\nb")), Err(PushError::Authorization)));
    }
}
