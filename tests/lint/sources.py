#!/usr/bin/env python3
"""Checks file sizes and calls that have one place of their own.

usage: sources.py ROOT — prints every offence and exits 1 when there is one.
"""
import pathlib
import re
import sys

LAYERS = ("contract", "sandbox", "shell", "files", "docker", "mcp", "cli")
MAX_LINES = 600

# (pattern, what to use instead, folders or files where it may stand)
BANNED = [
    (r"(?<![\w:.>])(?:::)?v?fork\(", "only the stub starts processes that way", ("sandbox/warden/", "sandbox/src/os/")),
    (r"(?<![\w.>])(?:std::)?system\(", "bawn::os::spawn", ()),
    (r"(?<![\w.>])popen\(", "bawn::os::spawn", ()),
    (r"(?<![\w:])(?:::)pipe\(", "pipe2 with O_CLOEXEC", ()),
    (r"\b(?:sleep_for|sleep_until|usleep|nanosleep)\(", "wait for the event itself", ()),
    (r"(?<![\w.>:])signal\(SIG", "sigaction or signalfd", ()),
    (r"std::filesystem::remove_all", "a removal that a symlink race cannot lead astray", ("shell/src/session_dir.cpp",)),
    (r"std::(?:cout|cerr)", "fmt or a report; stdout belongs to the protocol", ()),
    (r"\b(?:TODO|FIXME|XXX|HACK)\b", "finish it, or write it into docs/limits.md", ()),
]


def code_of(line):
    return line.split("//")[0] if "TODO" not in line else line


def offences(root):
    for layer in LAYERS:
        for path in sorted((root / layer).rglob("*.[ch]pp")):
            name = path.relative_to(root).as_posix()
            lines = path.read_text().splitlines()
            if len(lines) > MAX_LINES:
                yield f"{name}: {len(lines)} lines, at most {MAX_LINES}"
            for number, line in enumerate(lines, 1):
                for pattern, instead, places in BANNED:
                    if re.search(pattern, code_of(line)) and not name.startswith(tuple(places) or ("\0",)):
                        yield f"{name}:{number}: use {instead}: {line.strip()}"


def main():
    found = list(offences(pathlib.Path(sys.argv[1])))
    print("\n".join(found) if found else "sources: sizes and calls are in order")
    return 1 if found else 0


sys.exit(main())
