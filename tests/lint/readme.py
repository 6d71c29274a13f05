#!/usr/bin/env python3
"""Runs every `bawn` command line of README.md in a repository of its own.

usage: readme.py README BAWN — exits 1 when a command fails, 2 without both words. `bawn mcp` gets an empty input.
"""
import pathlib
import re
import subprocess
import sys
import tempfile

COMMAND = re.compile(r"^build/release/bin/bawn\b(.*)$", re.MULTILINE)


def main():
    if len(sys.argv) != 3:
        print("usage: readme.py README BAWN (`ctest -R lint.readme` runs it with both)", file=sys.stderr)
        return 2
    readme, bawn = sys.argv[1:]
    lines = COMMAND.findall(pathlib.Path(readme).read_text())
    if len(lines) < 4:
        print(f"{readme}: only {len(lines)} commands found")
        return 1
    failed = 0
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["git", "init", "-q", folder], check=True)
        for line in lines:
            command = bawn + line
            result = subprocess.run(command, shell=True, cwd=folder, stdin=subprocess.DEVNULL,
                                    capture_output=True, text=True, check=False)
            print(f"{result.returncode}  {command}\n{result.stderr}", end="")
            failed += result.returncode != 0
    return 1 if failed else 0


sys.exit(main())
