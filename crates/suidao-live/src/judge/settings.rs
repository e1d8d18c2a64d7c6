//! `[judge]`: which judge is asked, and how.

use std::net::IpAddr;

use serde::{Deserialize, Serialize};
use suidao_page::topic::OpinionUse;
use url::{Host, Url};

/// The question for chat, unless the user has another.
pub const PROMPT: &str = include_str!("prompt.txt");

#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct JudgeSettings {
    /// A server in OpenAI's form, by its whole URL: `/v1/embeddings` or `/v1/chat/completions`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub url: Option<String>,
    /// Or a shell command that answers lines of JSON.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub command: Option<String>,
    pub model: String,
    /// Text that an embedding model wants before each text. Default: by the model's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prefix: Option<String>,
    /// File with the question for chat.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub prompt: Option<String>,
    /// Environment variable with the key, sent as a bearer token.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub key_env: Option<String>,
    /// Distance from the boundary within which pages are asked about. For embeddings the lexicon's counts, as for
    /// `weight` and `tokens`.
    pub band: f64,
    pub weight: f64,
    pub tokens: u32,
    /// Most texts in one run.
    pub calls: u64,
    /// Seconds for an answer.
    pub timeout: f64,
}

impl Default for JudgeSettings {
    fn default() -> Self {
        let OpinionUse { band, weight, tokens } = OpinionUse::default();
        Self {
            url: None,
            command: None,
            model: String::new(),
            prefix: None,
            prompt: None,
            key_env: None,
            band,
            weight,
            tokens,
            calls: 10_000,
            timeout: 30.0,
        }
    }
}

impl JudgeSettings {
    pub fn is_configured(&self) -> bool {
        self.url.is_some() || self.command.is_some()
    }

    /// Whether the judge answers yes, no or unsure, and gives no vectors.
    pub fn is_chat(&self) -> bool {
        self.url.as_deref().is_some_and(|url| url.ends_with("/chat/completions"))
    }

    pub fn usage(&self) -> OpinionUse {
        OpinionUse { band: self.band, weight: self.weight, tokens: self.tokens }
    }

    /// The prefix for embeddings: e5 models are trained with one.
    pub fn embedding_prefix(&self) -> String {
        let by_name = || if self.model.to_lowercase().contains("e5") { "query: " } else { "" };
        self.prefix.clone().unwrap_or_else(|| by_name().to_owned())
    }

    /// Where texts of pages are sent, if that is another machine.
    pub fn other_machine(&self) -> Option<String> {
        let url = Url::parse(self.url.as_deref()?).ok()?;
        let is_own = match url.host()? {
            Host::Domain(name) => name == "localhost" || name.ends_with(".localhost"),
            Host::Ipv4(address) => IpAddr::V4(address).is_loopback(),
            Host::Ipv6(address) => IpAddr::V6(address).to_canonical().is_loopback(),
        };
        (!is_own).then(|| url.host_str().unwrap_or_default().to_owned())
    }

    /// Checks the keys that belong together: the key, and what is wrong with it.
    pub(crate) fn check(&self) -> Result<(), (&'static str, &'static str)> {
        if self.url.is_some() && self.command.is_some() {
            return Err(("judge.command", "must not be set together with judge.url; keep one of them"));
        }
        if let Some(url) = &self.url {
            let parsed = Url::parse(url).ok().filter(|url| matches!(url.scheme(), "http" | "https") && url.has_host());
            if parsed.is_none() || !(url.ends_with("/embeddings") || url.ends_with("/chat/completions")) {
                return Err((
                    "judge.url",
                    "must be the whole URL, such as \"http://127.0.0.1:8000/v1/embeddings\" or .../v1/chat/completions",
                ));
            }
        }
        if self.command.as_deref().is_some_and(|command| command.trim().is_empty()) {
            return Err(("judge.command", "must not be empty"));
        }
        if self.is_configured() && self.model.trim().is_empty() {
            return Err(("judge.model", "must name the judge's model"));
        }
        if self.prompt.is_some() && !self.is_chat() {
            return Err(("judge.prompt", "is for a judge.url that ends in /chat/completions"));
        }
        if self.key_env.is_some() && self.url.is_none() {
            return Err(("judge.key_env", "is for a judge.url"));
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(url: &str) -> JudgeSettings {
        JudgeSettings {
            url: Some(url.to_owned()),
            model: "multilingual-E5-small".to_owned(),
            ..JudgeSettings::default()
        }
    }

    #[test]
    fn wrong_keys_are_named() {
        let key = |settings: &JudgeSettings| settings.check().unwrap_err().0;
        let good = with("http://127.0.0.1:8000/v1/embeddings");
        assert_eq!((good.check(), JudgeSettings::default().check()), (Ok(()), Ok(())));
        for url in ["127.0.0.1:8000/v1/embeddings", "ftp://a.cn/v1/embeddings", "http://a.cn/v1", "embeddings"] {
            assert_eq!(key(&with(url)), "judge.url", "{url}");
        }
        let text = |text: &str| Some(text.to_owned());
        assert_eq!(key(&JudgeSettings { command: text("x"), ..good.clone() }), "judge.command");
        assert_eq!(key(&JudgeSettings { command: text(" "), ..JudgeSettings::default() }), "judge.command");
        assert_eq!(key(&JudgeSettings { model: String::new(), ..good.clone() }), "judge.model");
        assert_eq!(key(&JudgeSettings { prompt: text("p.txt"), ..good.clone() }), "judge.prompt");
        assert_eq!(key(&JudgeSettings { url: None, key_env: text("K"), ..good }), "judge.key_env");
    }

    #[test]
    fn another_machine_is_recognised_and_e5_has_its_prefix() {
        for own in ["http://127.0.0.1:1/embeddings", "http://localhost/embeddings", "http://[::1]/embeddings"] {
            assert_eq!(with(own).other_machine(), None, "{own}");
        }
        let other = with("https://api.example.cn/v1/embeddings");
        assert_eq!(other.other_machine().as_deref(), Some("api.example.cn"));
        assert_eq!(with("http://10.0.0.1/embeddings").other_machine().as_deref(), Some("10.0.0.1"));
        assert_eq!(other.embedding_prefix(), "query: ");
        assert_eq!(JudgeSettings { prefix: Some(String::new()), ..other }.embedding_prefix(), "");
    }
}
