"""Builds the wheel, and installs it in an environment that has nothing else: `python tests/python/wheel.py PROGRAM`.

The wheel gets the program that is built already: compiling it again, with other features, takes minutes. So what
maturin takes for cargo compiles nothing and names that program. Needs maturin; uses no network.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import venv
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent

CARGO = """#!{python}
import os, sys
if sys.argv[1] == "rustc":
    print({artifact!r})
else:
    os.execv({cargo!r}, [{cargo!r}, *sys.argv[1:]])
"""


def artifact(cargo: str, program: Path) -> str:
    """The message of cargo that it has built the program."""
    command = [cargo, "metadata", "--format-version=1", "--no-deps", "--manifest-path", str(ROOT / "Cargo.toml")]
    metadata = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    (package,) = (package for package in metadata["packages"] if package["name"] == "suidao")
    (target,) = (target for target in package["targets"] if target["kind"] == ["bin"])
    profile = {"opt_level": "0", "debuginfo": 0, "debug_assertions": False, "overflow_checks": False, "test": False}
    message = {"reason": "compiler-artifact", "package_id": package["id"], "manifest_path": package["manifest_path"]}
    message |= {"target": target, "profile": profile, "features": [], "fresh": True}
    return json.dumps(message | {"filenames": [str(program)], "executable": str(program)})


def build(program: Path, folder: Path) -> Path:
    """The wheel with this program, in the folder."""
    cargo = os.environ.get("CARGO") or shutil.which("cargo")
    assert cargo, "there is no cargo on the path"
    # A copy, because maturin moves it.
    message = artifact(cargo, Path(shutil.copy(program, folder / "suidao")))
    shim = folder / "cargo"
    shim.write_text(CARGO.format(python=sys.executable, artifact=message, cargo=cargo), encoding="utf-8")
    shim.chmod(0o755)
    path = os.pathsep.join([str(folder), str(Path(sys.executable).parent), os.environ["PATH"]])
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--disable-pip-version-check", "--no-index"]
    command += ["--no-build-isolation", "--no-deps", "--wheel-dir", str(folder), str(ROOT)]
    subprocess.run(command, env=os.environ | {"CARGO": str(shim), "PATH": path}, check=True)
    (wheel,) = folder.glob("*.whl")
    return wheel


def main() -> None:
    program = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        wheel = build(program, folder)
        with zipfile.ZipFile(wheel) as archive:
            names = archive.namelist()
        files = {f"suidao/{path.name}" for path in (ROOT / "python/suidao").iterdir() if path.is_file()}
        assert files == {name for name in names if name.startswith("suidao/")} and "suidao/py.typed" in files, names
        clean = folder / "clean"
        venv.create(clean, with_pip=True)
        python = clean / "bin" / "python"
        install = ["-m", "pip", "install", "--quiet", "--disable-pip-version-check", "--no-index", str(wheel)]
        subprocess.run([python, *install], check=True)

        def output(*words: str) -> str:
            # Without this process's environment, and outside of the repository.
            return subprocess.run(
                [python, *words], env={}, cwd=folder, capture_output=True, encoding="utf-8", check=True
            ).stdout.strip()

        assert output("-c", "import suidao; print(suidao.program())") == str(clean / "bin" / "suidao")
        version = output("-c", "import importlib.metadata; print(importlib.metadata.version('suidao'))")
        assert output("-m", "suidao", "--version") == f"suidao {version}"
        print(f"installed suidao {version}")


if __name__ == "__main__":
    main()
