#!/usr/bin/env python3
"""What a session's shell must do, one row of a file each, through the server as a client sees it.

Usage: behaviours.py BAWN                  bash and behaviours.json
       behaviours.py BAWN NAME PROGRAM     sh_behaviours.json with PROGRAM, called by NAME, in bash's place
"""
import json
import os
import shutil
import sys
import time

sys.dont_write_bytecode = True  # nothing is left in the checkout
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/python"))
from bawn_server import Root, Server  # noqa: E402

SKIPPED = 77
AT_ONCE = 60  # seconds; what would wait for a process of these rows waits ten times as long

ARGUMENTS = ("stdin", "cwd", "env", "timeout_ms", "keep_options", "check_syntax", "output_limit_bytes", "background",
             "policy")


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
    if "shell_has" in step and step["shell_has"] not in (seen.get("shell") or ""):
        yield differs("shell", seen.get("shell"), step["shell_has"])
    for key, word in (("not_kept", "not_kept_has"), ("notes", "notes_have")):
        if word in step and not any(step[word] in one for one in seen[key]):
            yield differs(key, seen[key], step[word])
    if "survivors" in step and len(seen["survivors"]) != step["survivors"]:
        yield differs("survivors", seen["survivors"], step["survivors"])
    # One that has been started may not have become its program yet, so that its name is not asked.
    if "has_survivors" in step and bool(seen["survivors"]) != step["has_survivors"]:
        yield differs("survivors", seen["survivors"], step["has_survivors"])
    if "stopped_jobs" in step and len(seen["stopped_jobs"]) != step["stopped_jobs"]:
        yield differs("stopped_jobs", seen["stopped_jobs"], step["stopped_jobs"])
    if step.get("ends_soon") and took > AT_ONCE:
        yield f"took {took:.1f} s"


def take(server, row):
    """The problems of one row, in a session of its own."""
    found = []
    for step in row["calls"]:
        if "restart" in step:
            server.call("bash_restart", session="row", **step["restart"])
            continue
        begin = time.monotonic()
        seen = server.bash(step["command"], session="row", **{key: step[key] for key in ARGUMENTS if key in step})
        took = time.monotonic() - begin
        found += [f"{step['command']!r}: {one}" for one in problems(step, seen, took)]
    server.call("bash_restart", session="row", close=True)
    return found


def main():
    program = os.path.abspath(sys.argv[1])
    here = os.path.dirname(os.path.abspath(__file__))
    with open(os.path.join(here, "sh_behaviours.json" if len(sys.argv) > 2 else "behaviours.json"),
              encoding="utf-8") as file:
        rows = json.load(file)
    failed = 0
    with Root() as root:
        arguments = []
        if len(sys.argv) > 2:
            # A program of many names looks at the one it was called by.
            os.mkdir(os.path.join(root, "workspace"))  # which a session sees wherever it is
            shell = os.path.join(root, "workspace", sys.argv[2])
            if not shutil.which(sys.argv[3]):
                print(f"skipped: there is no {sys.argv[3]}")
                sys.exit(SKIPPED)
            shutil.copy(shutil.which(sys.argv[3]), shell)
            arguments = ["--shell", shell]
        server = Server(program, root, arguments)
        for row in rows:
            found = take(server, row)
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
