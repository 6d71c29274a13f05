#!/usr/bin/env python3
"""Prints the counts of escape probes, one row for each JSON file of run_probes.py.

usage: table.py FOLDER — exits 1 when a probe escaped or something that must work is broken in a
file whose name does not begin with "bwrap".
"""
import collections
import json
import pathlib
import sys


def ids_with(results, *verdicts):
    return [row["id"] for row in results if row["verdict"] in verdicts]


def main():
    files = sorted(pathlib.Path(sys.argv[1]).glob("*.json"), key=lambda path: path.stat().st_mtime)
    bad = False
    print(f"{'mode':<12} {'held':>5} {'ESCAPED':>8} {'n/a':>4}   must work: ok broken n/a")
    for path in files:
        results = json.loads(path.read_text())
        attacks = [row for row in results if row["kind"] != "U"]
        uses = [row for row in results if row["kind"] == "U"]
        count = collections.Counter(row["verdict"] for row in attacks)
        use = collections.Counter(row["verdict"] for row in uses)
        print(f"{path.stem:<12} {count['held']:>5} {count['ESCAPED']:>8} {count['n/a']:>4}"
              f"              {use['works']:>2} {use['BROKEN']:>6} {use['n/a']:>3}")
        for label, found in (
                ("escaped", ids_with(attacks, "ESCAPED")),
                ("not applicable", ids_with(attacks, "n/a")),
                ("broken", ids_with(uses, "BROKEN", "n/a"))):
            if found:
                print(f"    {label}: {' '.join(found)}")
        if not path.stem.startswith("bwrap"):
            bad = bad or count["ESCAPED"] > 0 or use["BROKEN"] > 0
    return 1 if bad else 0


sys.exit(main())
