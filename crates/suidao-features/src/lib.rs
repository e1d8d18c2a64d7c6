//! What the tests of all crates share: [`depth`], and the features of third-party crates.
//!
//! Which features do third-party crates have? `cargo test -p suidao-X` would enable those that this crate's
//! dependencies ask for, which are fewer than in `cargo test`, and compile the third-party crates again. All crates
//! have this one as a dependency of their tests; its Cargo.toml names the features that differ.
//! `tests/safety/dependencies.rs` compares them.

/// `SUIDAO_CI` is set and not empty: tests try everything.
pub fn is_ci() -> bool {
    std::env::var_os("SUIDAO_CI").is_some_and(|value| !value.is_empty())
}

/// How much a test tries: with `SUIDAO_CI` all of it, otherwise as much as one waits for.
pub fn depth<T>(usual: T, full: T) -> T {
    if is_ci() { full } else { usual }
}
