#!/usr/bin/env python3
"""Checks `#include "bawn/…"` against the include table of docs/architecture.md.

usage: layers.py ROOT — prints every offending line and exits 1 when there is one.
"""
import pathlib
import re
import sys

MAY_INCLUDE = {
    "contract": {"contract"},
    "sandbox": {"contract", "sandbox", "os"},
    "shell": {"contract", "sandbox", "os", "shell"},
    "files": {"contract", "sandbox", "os", "files"},
    "docker": {"contract", "sandbox", "os", "shell", "files", "container"},
    "mcp": {"contract", "mcp"},
    "cli": {"contract", "sandbox", "os", "shell", "files", "container", "mcp"},
}
INCLUDE = re.compile(r'^\s*#\s*include\s*[<"](bawn/([a-z]+)/[^>"]+)[>"]')


def offences(root):
    for layer, allowed in MAY_INCLUDE.items():
        for path in sorted((root / layer).rglob("*.[ch]pp")):
            for number, line in enumerate(path.read_text().splitlines(), 1):
                found = INCLUDE.match(line)
                if found and found[2] not in allowed:
                    yield f"{path.relative_to(root)}:{number}: {layer}/ may not include {found[1]}"


def table_in_docs(root):
    """The rows of the table in docs/architecture.md, as {folder: allowed folders}."""
    rows = {}
    for line in (root / "docs/architecture.md").read_text().splitlines():
        cells = [cell.strip(" `") for cell in line.strip().strip("|").split("|")]
        if len(cells) == 3 and cells[0].rstrip("/") in MAY_INCLUDE:
            rows[cells[0].rstrip("/")] = cells[2]
    return rows


def main():
    root = pathlib.Path(sys.argv[1])
    found = list(offences(root))
    documented = table_in_docs(root)
    for layer in MAY_INCLUDE:
        if layer not in documented:
            found.append(f"docs/architecture.md: no row for {layer}/")
    print("\n".join(found) if found else "layers: every include is in the table")
    return 1 if found else 0


sys.exit(main())
