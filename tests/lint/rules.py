#!/usr/bin/env python3
"""Checks that every rule of the contract has a test that names it, and that what the page names is there.

docs/contract.md lists the rules and where they are, or why they are not here. A test names a rule in
a comment beside it: `TEST(Set, ClosesOnce) {  // C-131`. Tests of shared vectors do not count: they
are skipped where the vectors are not. The files that the page names in its tables exist, and so do the
tests that it names.

usage: rules.py ROOT — prints every offence and exits 1 when there is one.
"""
import pathlib
import re
import sys

# The rules of the contract and of the layers over it: see the sections of docs/contract.md.
ALL = [*range(1, 15), *range(20, 33), *range(40, 52), *range(60, 68), *range(70, 80),
       *range(80, 84), *range(90, 96), *range(100, 110), *range(110, 114), *range(120, 122),
       *range(130, 143), *range(150, 159), *range(220, 222), *range(230, 235)]
RULE = re.compile(r"C-(\d+)(?: to C-(\d+))?")


def rules_in(text):
    """The numbers that a text names; "C-3 to C-6" names four."""
    for match in RULE.finditer(text):
        first = int(match[1])
        last = int(match[2] or first)
        yield from (n for n in range(first, last + 1) if n in ALL)


def table_rows(page):
    for line in page.splitlines():
        cells = line.split("|")
        if len(cells) == 4 and "C-" in cells[1]:
            yield cells[1]


def named_by_tests(root):
    named = set()
    for path in (root / "tests").rglob("*_test.cpp"):
        if not path.name.endswith("vectors_test.cpp"):
            for line in re.findall(r"^TEST\w*\([^{]*\{ *// *(C-.*)$", path.read_text(), re.MULTILINE):
                named.update(int(n) for n in re.findall(r"C-(\d+)", line))
    return named


def missing_files(root, page):
    """The files that the page names between backticks, the headers of its first table included."""
    public = {path.name for path in root.glob("*/include/bawn/*/*.hpp")}
    for line in page.split("## What lies where", 1)[1].split("##", 1)[0].splitlines():
        first = line.split("|")[1] if line.startswith("| `") else ""
        for word in re.findall(r"`(\w+)`", first):
            if word + ".hpp" not in public:
                yield f"docs/contract.md names the header {word}, which does not exist"
    for word in re.findall(r"`([\w/]+\.(?:[ch]pp|py|md))`", page):
        if word not in public and not (root / word).is_file():
            yield f"docs/contract.md names {word}, which does not exist"


def offences(root):
    page = (root / "docs/contract.md").read_text()
    implemented = set()
    for row in table_rows(page):
        implemented.update(rules_in(row))
    absent = set(rules_in(page.split("Not here:", 1)[1])) if "Not here:" in page else set()
    named = named_by_tests(root)
    for rule in ALL:
        if rule in implemented and rule in absent:
            yield f"docs/contract.md: C-{rule} is listed as being here and as not"
        elif rule in implemented and rule not in named:
            yield f"C-{rule} is listed in docs/contract.md, and no test names it"
        elif rule not in implemented and rule not in absent:
            yield f"docs/contract.md does not say where C-{rule} is, or why it is not"
    yield from missing_files(root, page)


def main():
    found = list(offences(pathlib.Path(sys.argv[1])))
    print("\n".join(found) if found else "rules: every one is named by a test or left out with a reason")
    return 1 if found else 0


sys.exit(main())
