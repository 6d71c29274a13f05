"""What the tests of faults look at, before and after: processes, records, the end of a server."""
import json
import os
import shlex
import shutil
import sys

from bawn_server import Root, is_alive, until

SKIPPED = 77
GONE = 20  # seconds until what a dead server ran must have ended; it takes milliseconds
TREE = "sleep 600 & setsid sleep 600 & echo up; sleep 600"


def check(right, what, seen=None):
    if not right:
        raise AssertionError(f"{what}; seen: {seen!r}")


def running(server, command=TREE, **arguments):
    """The id of a call whose command is known to run: it has printed something."""
    begun = server.begin(command, **arguments)
    server.shows(begun, "up")
    return begun["call"]


def ended(server, call):
    return server.to_end({"state": "running", "call": call, "session": "main"})


def kill(server, call):
    server.call("bash_kill", call=call)
    return ended(server, call)


def records(server):
    """The names of the record files, and every line of them as what it says."""
    folder = os.path.join(server.state, "records")
    lines = []
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".jsonl"):
            continue
        with open(os.path.join(folder, name), "rb") as file:
            for line in file.read().split(b"\n"):
                if line.strip():
                    lines.append(json.loads(line))
    return lines


def all_gone(pids):
    until(lambda: not any(is_alive(pid) for pid in pids), f"{pids} gone", GONE)


def ends_well(server):
    family = server.family()
    status = server.close()
    check(status == 0, "exit status", (status, server.errors))
    check(not server.bad_lines, "only whole answers, each once", server.bad_lines)
    all_gone(family)


def traced(program, root, calls, injection):
    """The program under strace, which does to its system calls what is injected."""
    if not shutil.which("strace"):
        sys.exit(SKIPPED)
    wrapper = os.path.join(root, "traced")
    with open(wrapper, "w", encoding="ascii") as file:
        file.write(f"#!/bin/sh\nexec strace -f -qq -o /dev/null -e trace={calls} -e inject={calls}:{injection} -- "
                   f"{shlex.quote(program)} \"$@\"\n")
    os.chmod(wrapper, 0o755)
    return wrapper


def main(names):
    """Runs the case that the command line names, a function of (program, root); without a name lists them.

    BAWN_TEST_TIMES says how often, one after the other: for faults that show themselves now and then.
    """
    cases = {name: case for name, case in names.items()
             if getattr(case, "__module__", None) == "__main__" and hasattr(case, "__code__")
             and case.__code__.co_varnames[:2] == ("program", "root")}
    program = os.path.abspath(sys.argv[1])
    if len(sys.argv) == 2:
        print("\n".join(cases))
        return
    for _ in range(int(os.environ.get("BAWN_TEST_TIMES", "1"))):
        with Root() as root:
            cases[sys.argv[2]](program, root)
