//! Addresses and login of NATS servers: URLs, or a context file of the `nats` command (`nats context save`), which
//! keeps passwords and keys out of command lines.

use std::path::{Path, PathBuf};

use async_nats::{ConnectOptions, ServerAddr};
use serde::Deserialize;

use crate::error::ClusterError;

/// A context file; suidao ignores its other keys.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct ContextFile {
    url: String,
    user: String,
    password: String,
    token: String,
    /// PEM files: the authority of the server's certificate, and a certificate of the client with its key.
    ca: PathBuf,
    cert: PathBuf,
    key: PathBuf,
    creds: String,
    nkey: String,
}

/// Servers and login.
pub(crate) struct NatsContext {
    pub addresses: Vec<ServerAddr>,
    /// The servers, without passwords.
    pub urls: String,
    file: ContextFile,
}

impl NatsContext {
    /// Reads URLs separated by commas, or a context file, whose path ends in `.json`.
    pub fn read(given: &str) -> Result<Self, ClusterError> {
        let file = match given.ends_with(".json") {
            true => ContextFile::read(Path::new(given))?,
            false => ContextFile { url: given.to_owned(), ..ContextFile::default() },
        };
        let addresses: Result<Vec<ServerAddr>, _> = file.url.split(',').map(|url| url.trim().parse()).collect();
        let urls = without_secrets(&file.url);
        let addresses = addresses.map_err(|_| ClusterError::Url { url: urls.clone() })?;
        Ok(Self { addresses, urls, file })
    }

    /// Adds login and certificates.
    pub fn log_in(&self, mut options: ConnectOptions) -> ConnectOptions {
        let ContextFile { user, password, token, ca, cert, key, .. } = &self.file;
        if !user.is_empty() {
            options = options.user_and_password(user.clone(), password.clone());
        }
        if !token.is_empty() {
            options = options.token(token.clone());
        }
        if !ca.as_os_str().is_empty() {
            options = options.add_root_certificates(ca.clone());
        }
        if !cert.as_os_str().is_empty() {
            options = options.add_client_certificate(cert.clone(), key.clone());
        }
        options
    }
}

impl ContextFile {
    fn read(path: &Path) -> Result<Self, ClusterError> {
        let unusable = |reason: String| ClusterError::Context { path: path.to_owned(), reason };
        let text = std::fs::read_to_string(path).map_err(|error| unusable(error.to_string()))?;
        let file: Self = serde_json::from_str(&text).map_err(|error| unusable(error.to_string()))?;
        if !(file.creds.is_empty() && file.nkey.is_empty()) {
            return Err(unusable(
                "creds and nkey are not supported; use user and password, or cert and key".to_owned(),
            ));
        }
        for file in [&file.ca, &file.cert, &file.key].into_iter().filter(|file| !file.as_os_str().is_empty()) {
            std::fs::metadata(file).map_err(|error| unusable(format!("{}: {error}", file.display())))?;
        }
        Ok(file)
    }
}

/// URLs without user and password.
fn without_secrets(urls: &str) -> String {
    let one = |url: &str| match (url.split_once("://"), url.rsplit_once('@')) {
        (Some((scheme, _)), Some((_, host))) => format!("{scheme}://{host}"),
        (None, Some((_, host))) => host.to_owned(),
        _ => url.to_owned(),
    };
    urls.split(',').map(|url| one(url.trim())).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_not_shown() {
        let urls = "nats://user:p@ss@one.example:4222, tls://t0ken@two.example,secret@three,four:4222";
        assert_eq!(without_secrets(urls), "nats://one.example:4222,tls://two.example,three,four:4222");
    }

    #[test]
    fn a_context_is_read_from_its_file() {
        let root = tempfile::tempdir().unwrap();
        let path = root.path().join("crawl.json");
        let read = |text: &str| {
            std::fs::write(&path, text).unwrap();
            NatsContext::read(path.to_str().unwrap())
        };
        let context =
            read(r#"{"description": "", "url": "nats://a:4222,nats://b:4222", "user": "me", "password": "secret"}"#);
        let context = context.unwrap();
        assert_eq!((context.addresses.len(), context.urls.as_str()), (2, "nats://a:4222,nats://b:4222"));
        for (wrong, message) in [
            ("{", "crawl.json"),
            (r#"{"url": "::"}"#, "not the URL"),
            (r#"{"url": "nats://a", "creds": "x"}"#, "not supported"),
            (r#"{"url": "tls://a", "ca": "/missing/ca.pem"}"#, "/missing/ca.pem"),
        ] {
            let error = read(wrong).err().unwrap().to_string();
            assert!(error.contains(message), "{error}");
        }
        assert!(NatsContext::read("/missing/context.json").is_err());
    }
}
