#!/usr/bin/env python3
"""Prints the counts of escape probes, one row for each JSON file of run_probes.py, and judges them.

usage: table.py FOLDER POLICY — exits 1 when an attack escaped, or something that must work is broken, that
allowed.json (beside this file) does not name; and when a name in it is not needed any more: the list
may only shrink. Other launchers' files (bwrap-*, firejail-*, ...) are shown and not judged.
"""
import collections
import json
import pathlib
import sys

OURS = {"root": "with-namespaces", "user": "with-namespaces",
        "root-none": "without-namespaces", "user-none": "without-namespaces"}


def ids_with(results, *verdicts):
    return [row["id"] for row in results if row["verdict"] in verdicts]


def print_row(name, attacks, uses):
    count = collections.Counter(row["verdict"] for row in attacks)
    use = collections.Counter(row["verdict"] for row in uses)
    print(f"{name:<14} {count['held']:>5} {count['ESCAPED']:>8} {count['n/a']:>4}"
          f"              {use['works']:>2} {use['BROKEN']:>6} {use['n/a']:>3}")
    for label, found in (
            ("escaped", ids_with(attacks, "ESCAPED")),
            ("not applicable", ids_with(attacks, "n/a")),
            ("broken", ids_with(uses, "BROKEN", "n/a"))):
        if found:
            print(f"    {label}: {' '.join(found)}")


class Judge:
    """Compares what was found with what is allowed, class by class."""

    def __init__(self, allowed):
        self.allowed = allowed
        self.seen = collections.defaultdict(set)
        self.used = collections.defaultdict(set)
        self.faults = []

    def take(self, mode, rows, kind, bad):
        self.seen[kind] |= {row["id"] for row in rows if row["verdict"] != "n/a"}
        for name in ids_with(rows, bad):
            self.used[kind].add(name)
            if name not in self.allowed.get(kind, {}):
                self.faults.append(f"{mode}: {name} {bad}, which allowed.json does not name under {kind}")

    def verdict(self):
        for kind, names in self.allowed.items():
            for name in names:
                if name in self.seen[kind] and name not in self.used[kind]:
                    self.faults.append(f"{name} is held now: take it out of {kind} in allowed.json")
        return self.faults


def allowed_under(policy):
    """{kind: {id: why}}; an entry may name the policies that it holds for."""
    text = (pathlib.Path(__file__).parent / "allowed.json").read_text()
    return {kind: {name: why for name, why in names.items()
                   if isinstance(why, str) or policy in why["policies"]}
            for kind, names in json.loads(text).items()}


def main():
    files = sorted(pathlib.Path(sys.argv[1]).glob("*.json"), key=lambda path: path.stat().st_mtime)
    judge = Judge(allowed_under(sys.argv[2]))
    print(f"{'mode':<14} {'held':>5} {'ESCAPED':>8} {'n/a':>4}   must work: ok broken n/a")
    for path in files:
        results = json.loads(path.read_text())
        attacks = [row for row in results if row["kind"] != "U"]
        uses = [row for row in results if row["kind"] == "U"]
        print_row(path.stem, attacks, uses)
        if path.stem in OURS:
            kind = OURS[path.stem]
            judge.take(path.stem, attacks, kind, "ESCAPED")
            judge.take(path.stem, uses, f"broken-{kind}", "BROKEN")
    faults = judge.verdict()
    for fault in faults:
        print(f"NOT ALLOWED  {fault}")
    return 1 if faults else 0


sys.exit(main())
