//! Which features do third-party crates have? `cargo test -p suidao-X` would enable those that this crate's
//! dependencies ask for, which are fewer than in `cargo test`, and compile the third-party crates again. All crates but
//! the program have this one as a dependency of their tests; its Cargo.toml names the features that differ.
//! `tests/safety/dependencies.rs` compares them.
