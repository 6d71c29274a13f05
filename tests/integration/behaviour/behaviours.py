#!/usr/bin/env python3
"""What a persistent shell must do, one row of behaviours.json each, through the server as a client sees it.

Usage: behaviours.py BAWN
"""
import json
import os
import sys
import time

sys.dont_write_bytecode = True  # nothing is left in the checkout
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/python"))
from bawn_server import Root, Server  # noqa: E402

AT_ONCE = 60  # seconds; what would wait for a process of these rows waits ten times as long

ARGUMENTS = ("stdin", "cwd", "env")


def problems(step, seen, took):
    """Each expectation of the step that does not hold."""
    def differs(key, value, expected):
        return f"{key}: {value!r} instead of {expected!r}"

    for key in ("exit_code", "stdout", "stderr", "reason", "shell_restarted", "restored", "options_reset",
                "pipe_statuses", "cwd_missing"):
        if key in step and seen.get(key) != step[key]:
            yield differs(key, seen.get(key), step[key])
    if "stderr_has" in step and step["stderr_has"] not in seen["stderr"]:
        yield differs("stderr", seen["stderr"], step["stderr_has"])
    if "cwd_ends" in step and not seen["cwd"].endswith(step["cwd_ends"]):
        yield differs("cwd", seen["cwd"], step["cwd_ends"])
    # One that has been started may not have become its program yet, so that its name is not asked.
    if "has_survivors" in step and bool(seen["survivors"]) != step["has_survivors"]:
        yield differs("survivors", seen["survivors"], step["has_survivors"])
    if "stopped_jobs" in step and len(seen["stopped_jobs"]) != step["stopped_jobs"]:
        yield differs("stopped_jobs", seen["stopped_jobs"], step["stopped_jobs"])
    if step.get("ends_soon") and took > AT_ONCE:
        yield f"took {took:.1f} s"


def main():
    program = os.path.abspath(sys.argv[1])
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "behaviours.json")
    with open(path, encoding="utf-8") as file:
        rows = json.load(file)
    failed = 0
    with Root() as root:
        server = Server(program, root)
        for row in rows:
            found = []
            for step in row["calls"]:
                begin = time.monotonic()
                seen = server.bash(step["command"], session="row",
                                   **{key: step[key] for key in ARGUMENTS if key in step})
                took = time.monotonic() - begin
                found += [f"{step['command']!r}: {one}" for one in problems(step, seen, took)]
            server.call("bash_restart", session="row", close=True)
            print(f"{'FAILED' if found else 'ok    '} {row['name']}")
            failed += bool(found)
            for one in found:
                print(f"       {one}")
        if server.close() != 0 or server.bad_lines:
            print("FAILED the server did not end well", server.errors, server.bad_lines)
            failed += 1
    print(f"{len(rows)} behaviours, {failed} failed")
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
