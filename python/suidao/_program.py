"""The program: where it is, how it runs, and its errors as exceptions."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import sysconfig
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from itertools import takewhile
from pathlib import Path
from typing import Any

PathLike = str | os.PathLike[str]


class SuidaoError(Exception):
    """The program failed: its sentence, and its exit code in `code` (1: the disk, the network or a goal that was not
    reached; 2: wrong input; negative: the signal that ended it)."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code


class InputError(SuidaoError, ValueError):
    """An argument, a file or the configuration is wrong (exit code 2)."""


def program() -> str:
    """The path of the program: the one that was installed with this module, else the one on the path."""
    name = "suidao" + (sysconfig.get_config_var("EXE") or "")
    schemes = [sysconfig.get_preferred_scheme("user"), sysconfig.get_default_scheme()]
    folders = [sysconfig.get_path("scripts", scheme) for scheme in reversed(schemes)]
    # `pip install --target DIR` puts programs into DIR/bin.
    folders.append(str(Path(__file__).parent.parent / "bin"))
    for folder in folders:
        path = os.path.join(folder, name)
        if os.access(path, os.X_OK) and os.path.isfile(path):
            return path
    found = shutil.which(name)
    if found is None:
        raise FileNotFoundError(
            f"the program {name} is neither in {folders[0]} nor on the path; install the package again"
        )
    return found


def error(printed: str, code: int) -> SuidaoError:
    """The exception for what the program printed on standard error."""
    lines = [line for line in printed.splitlines() if line.strip()]
    ours = [number for number, line in enumerate(lines) if line.startswith("suidao: ")]
    if ours:
        # Wrong lines of a file are listed before the sentence.
        listed = [line for line in lines[: ours[-1]] if line.startswith("  ")]
        message = "\n".join([lines[ours[-1]].removeprefix("suidao: "), *listed])
    else:
        # The sentence comes before the usage and after warnings.
        lines = list(takewhile(lambda line: not line.startswith(("Usage:", "For more")), lines))
        lines = [line for line in lines if not line.startswith("warning: ")]
        message = "\n".join(lines).removeprefix("error: ") or f"suidao ended with exit code {code}"
    return (InputError if code == 2 else SuidaoError)(message, code)


def call(words: Iterable[PathLike]) -> str:
    """Runs a verb to its end and returns its output."""
    ended = subprocess.run(
        [program(), *words], stdin=subprocess.DEVNULL, capture_output=True, encoding="utf-8", check=False
    )
    if ended.returncode != 0:
        raise error(ended.stderr, ended.returncode)
    return ended.stdout


def call_json(words: Iterable[PathLike]) -> Any:
    """Runs a verb that prints one JSON value."""
    return json.loads(call(words))


@contextmanager
def input_file(name: str, lines: Iterable[str]) -> Iterator[Path]:
    """A temporary file of lines. An error calls it by its name alone."""
    with tempfile.TemporaryDirectory(prefix="suidao-") as folder:
        file = Path(folder) / name
        file.write_text("".join(f"{line}\n" for line in lines), encoding="utf-8")
        try:
            yield file
        except SuidaoError as problem:
            raise type(problem)(str(problem).replace(f"{folder}{os.sep}", ""), problem.code) from None


def values(flag: str, given: str | Iterable[str] | None) -> list[str]:
    """A flag for each value."""
    given = [given] if isinstance(given, str) else given or []
    # With `=`, because a value may begin with a hyphen.
    return [f"{flag}={value}" for value in given]


def missing(module: str, extra: str) -> ImportError:
    """The exception for an optional module that is not installed."""
    return ImportError(f"{module} is not installed; run {sys.executable} -m pip install {extra}")
