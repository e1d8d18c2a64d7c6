//! The Python package: its module works with the program, its types are complete, and its wheel installs.

use std::path::Path;
use std::process::Command;

use crate::support::{run, suidao, tools};

/// Python with these modules, in the repository, with the module that is tested and the program on the path.
fn python(modules: &str) -> Option<Command> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut command = Command::new(tools::python(modules)?);
    let program = Path::new(env!("CARGO_BIN_EXE_suidao")).parent().unwrap().display();
    let path = format!("{program}:{}", std::env::var("PATH").unwrap());
    command
        .current_dir(root)
        .env("PYTHONPATH", root.join("python"))
        .env("PATH", path)
        .env("PYTHONDONTWRITEBYTECODE", "1");
    Some(command)
}

/// Runs a file of tests.
fn passes(tests: &str) {
    let Some(mut command) = python("jsonschema, pandas, pyarrow") else { return };
    command.arg(format!("tests/python/{tests}.py"));
    let ended = run(command).expect(0);
    assert!(ended.err.contains("\nOK\n"), "{}", ended.err);
}

#[test]
fn the_module_and_every_cell_of_its_chapter_work() {
    passes("module");
}

#[test]
fn the_client_works_with_a_service() {
    passes("client");
}

#[test]
fn the_types_of_the_module_are_complete() {
    let Some(mut command) = python("mypy") else { return };
    let cache = tempfile::tempdir().unwrap();
    command.args(["-m", "mypy", "--config-file", "pyproject.toml", "--cache-dir"]).arg(cache.path());
    run(command).expect(0);
}

#[test]
fn the_wheel_installs_in_a_clean_environment() {
    let Some(mut command) = python("maturin") else { return };
    command.arg("tests/python/wheel.py").arg(suidao().get_program());
    assert!(run(command).expect(0).out.contains("installed suidao "));
}
