"""`python -m suidao` is the program."""

import os
import subprocess
import sys

from ._program import program


def main() -> int:
    """Runs the program with the arguments of this process."""
    command = [program(), *sys.argv[1:]]
    if os.name == "posix":
        # The program replaces this process, so signals reach it.
        os.execv(command[0], command)
    return subprocess.run(command, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
