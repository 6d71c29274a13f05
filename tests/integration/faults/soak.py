#!/usr/bin/env python3
"""Many calls, cancels, sessions and ends of servers, and what is left of them: nothing.

Usage: soak.py BAWN [--short] [NAME...]     --short is a test of some seconds; whole, it takes minutes
"""
import os
import random
import signal
import subprocess
import sys
import time

sys.dont_write_bytecode = True  # nothing is left in the checkout
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/python"))
from bawn_server import Root, Server, is_alive, until  # noqa: E402

# Each runs for ever, or long enough to be met at any moment of its life.
SHAPES = {
    "one program": "sleep 0.05",
    "a list": "sleep 0.02; echo x; sleep 0.02",
    "a loop of programs": "while :; do /bin/true; done",
    "a loop of builtins": "while :; do :; done",
    "a pipeline": "yes | cat | sleep 0.05",
    "a background job": "sleep 600 & sleep 0.05",
    "sessions of their own": "setsid sleep 600 & (sleep 600 &) ; sleep 0.05",
    "a subshell and a substitution": "(x=$(sleep 0.03; echo y); echo $x; sleep 0.03)",
}

SKIPPED = 77
MOST_GROWTH = {"descriptors": 2, "threads": 1, "KiB": 8 * 1024}


def check(right, what, seen=None):
    if not right:
        raise AssertionError(f"{what}; seen: {seen!r}")


def holdings(server):
    return {"descriptors": server.descriptors(), "threads": server.threads(), "KiB": server.resident()}


def check_growth(server, before):
    """The server comes back to what it held; its last workers may still be about to end."""
    def small():
        after = holdings(server)
        return all(after[key] - before[key] <= most for key, most in MOST_GROWTH.items())
    try:
        until(small, "back to what it held", 30)
    except AssertionError:
        check(False, "growth", (before, holdings(server)))
    until(lambda: not server.zombies(), "no zombies", 30)
    print(f"       held before {before}, after {holdings(server)}")


def ends_well(server):
    family = server.family()
    check(server.close() == 0, "exit status", server.errors)
    check(not server.bad_lines, "only whole answers, each once", server.bad_lines)
    until(lambda: not any(is_alive(pid) for pid in family), "nothing is left", 20)


def cancels(program, root, short):
    """Stops calls at random moments: no report, no shell and no process is lost."""
    rounds = 10 if short else 125
    server = Server(program, root)
    server.bash("v=kept")
    pid = server.bash("echo $$")["stdout"]
    dice = random.Random(20240101)
    took = []
    for shape, command in SHAPES.items():
        for turn in range(rounds):
            begun = server.begin(command)
            pause = time.monotonic() + dice.random() * 0.08
            while time.monotonic() < pause:
                pass  # a random moment of its life
            begin = time.monotonic()
            server.call("bash_kill", call=begun["call"])
            result = server.to_end(begun)
            took.append(time.monotonic() - begin)
            where = f"{shape}, turn {turn}"
            check(not result["shell_restarted"], f"{where}: the shell lives", result)
            check(result["exit_code"] is not None, f"{where}: a report came", result)
            check(result["reason"] == "cancelled" or result["exit_code"] in (0, 130), f"{where}: true", result)
            if result["reason"] == "cancelled":
                check(not result["survivors"], f"{where}: nothing survives", result)
            else:
                server.bash("kill $(jobs -p) 2>/dev/null; wait")
            check(server.bash("echo $v")["stdout"] == "kept\n", f"{where}: state kept")
    check(server.bash("echo $$")["stdout"] == pid, "one shell from the first to the last")
    took.sort()
    print(f"       {len(took)} cancels, p50 {took[len(took) // 2] * 1000:.1f} ms, "
          f"p99 {took[len(took) * 99 // 100] * 1000:.1f} ms to the result")
    # Of those that ended by themselves a process may be left: what a call leaves is its own.
    server.call("bash_restart")
    until(lambda: not [one for one in server.family() if name_of(one) in ("sleep", "yes", "cat")], "no orphans", 30)
    ends_well(server)


def name_of(pid):
    try:
        with open(f"/proc/{pid}/comm", encoding="latin1") as file:
            return file.read().strip()
    except OSError:
        return ""


def calls(program, root, short):
    """Calls of each kind without growth of descriptors, threads, memory or zombies."""
    count = 300 if short else 10_000
    server = Server(program, root)

    def some(number):
        for i in range(number):
            kind = i % 5
            if kind == 0:
                check(server.execute("true")["exit_code"] == 0, "exec")
            elif kind == 1:
                check(server.bash(f"echo {i}")["stdout"] == f"{i}\n", "bash")
            elif kind == 2:
                check(server.bash("head -c 300000 /dev/zero | tr '\\0' x")["stdout_counts"]["bytes"] == 300000, "spool")
            elif kind == 3:
                check(server.bash("sleep 0 & wait; (exit 3)")["exit_code"] == 3, "status")
            else:
                check(server.bash("cat", stdin="in\n")["stdout"] == "in\n", "input")

    some(150)  # as many calls are kept: from here on each new one replaces an old one
    before = holdings(server)
    some(count)
    check_growth(server, before)
    kept = server.call("bash_output")["calls"]
    check(len(kept) <= 64, "kept calls are bounded", len(kept))
    ends_well(server)


def timeouts(program, root, short):
    server = Server(program, root)
    for _ in range(70):
        server.bash(":")  # as many calls are kept: from here on each new one replaces an old one
    before = holdings(server)
    for _ in range(10 if short else 1000):
        result = server.bash("sleep 600 | cat", timeout_ms=1)
        check(result["reason"] == "timeout" and not result["survivors"], "ended by its limit", result)
    check_growth(server, before)
    ends_well(server)


def sessions(program, root, short):
    server = Server(program, root)
    server.bash(":", session="warm")
    server.call("bash_restart", session="warm", close=True)
    before = holdings(server)
    for i in range(5 if short else 200):
        check(server.bash("echo $$; sleep 600 &", session=f"s{i}")["exit_code"] == 0, "runs")
        server.call("bash_restart", session=f"s{i}", close=True)
    check_growth(server, before)
    until(lambda: not server.family(), "no process of a closed session", 30)
    ends_well(server)


def server_ends(program, root, short):
    """Servers that are killed with calls running leave nothing for the next one but records."""
    for _ in range(2 if short else 100):
        server = Server(program, root)
        begun = server.begin("sleep 600 & setsid sleep 600 & echo up; sleep 600")
        server.shows(begun, "up")
        family = server.family()
        os.kill(server.pid, signal.SIGKILL)
        server.process.wait()
        until(lambda: not any(is_alive(pid) for pid in family), "everything ends", 20)
    server = Server(program, root)
    check(server.bash("echo on")["stdout"] == "on\n", "the next one serves")
    left = os.listdir(os.path.join(root, "state", "sessions"))
    check(len(left) == 1, "no directories of dead sessions", left)
    ends_well(server)


def faults(program, root, short):
    """Every fault of the tests, again and again: what goes wrong one time in ten is met."""
    here = os.path.dirname(os.path.abspath(__file__))
    times = "1" if short else os.environ.get("BAWN_TEST_TIMES", "20")
    library = os.path.join(os.path.dirname(program), "libodd_machine.so")
    failed = []
    for script in ("faults.py", "server_faults.py", "machine_faults.py"):
        command = [sys.executable, os.path.join(here, script), program]
        names = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True).stdout.split()
        for name in names:
            begin = time.monotonic()
            status = subprocess.run([*command, name, library], check=False, cwd=root, stdout=subprocess.DEVNULL,
                                    env=dict(os.environ, BAWN_TEST_TIMES=times)).returncode
            word = {0: "ok", SKIPPED: "skipped"}.get(status, "FAILED")
            print(f"       {word:7} {name}, {times} times, {time.monotonic() - begin:.0f} s", flush=True)
            failed += [name] if word == "FAILED" else []
    check(not failed, "each time", failed)


PARTS = (cancels, calls, timeouts, sessions, server_ends, faults)


def main():
    program = os.path.abspath(sys.argv[1])
    short = "--short" in sys.argv
    names = [word for word in sys.argv[2:] if word != "--short"]
    failed = 0
    for part in PARTS:
        if names and part.__name__ not in names:
            continue
        begin = time.monotonic()
        with Root() as root:
            try:
                part(program, root, short)
                word = "ok    "
            except (AssertionError, RuntimeError) as error:
                word = "FAILED"
                failed += 1
                print(f"       {error}")
        print(f"{word} {part.__name__} ({time.monotonic() - begin:.1f} s)", flush=True)
    sys.exit(1 if failed else 0)


if __name__ == "__main__":
    main()
