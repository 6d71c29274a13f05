#!/usr/bin/env python3
"""A machine that is short of something: a disk that refuses, no forks, no memory, no time, few numbers.

Usage: machine_faults.py BAWN [NAME] [ODD_MACHINE]     without a name: the names; the last is a library
"""
import errno
import mmap
import os
import resource
import shlex
import shutil
import struct
import subprocess
import sys

sys.dont_write_bytecode = True  # nothing is left in the checkout
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/python"))
from bawn_server import DEADLINE, Gone, Server  # noqa: E402
from looks import SKIPPED, all_gone, check, ends_well, kill, main, records, running, traced  # noqa: E402

DAY = 86400


class OddMachine:
    """A program on a machine whose wall clock and disk can be changed while it runs."""

    HEAD = "qii"  # seconds, errno, how often

    def __init__(self, program, root, library):
        path = os.path.join(root, "odd")
        with open(path, "wb") as file:
            file.write(bytes(8192))
        with open(path, "r+b") as file:
            self.memory = mmap.mmap(file.fileno(), 4096)
        self.program = os.path.join(root, "on_odd_machine")
        with open(self.program, "w", encoding="ascii") as file:
            file.write(f"#!/bin/sh\nexport ASAN_OPTIONS=verify_asan_link_order=0\n"
                       f"LD_PRELOAD={shlex.quote(library)} ODD_MACHINE={shlex.quote(path)} "
                       f"exec {shlex.quote(program)} \"$@\"\n")
        os.chmod(self.program, 0o755)

    def turn_clock(self, seconds):
        self.memory[0:8] = struct.pack("q", seconds)

    def refuse(self, number, below=""):
        self.memory[16:16 + len(below) + 1] = below.encode() + b"\0"
        self.memory[12:16] = bytes(4)
        self.memory[8:12] = struct.pack("i", number)

    def refused(self):
        return struct.unpack("i", self.memory[12:16])[0]


def odd_machine(root, program):
    if len(sys.argv) < 4 or not os.path.exists(sys.argv[3]):
        print("skipped: there is no library to make the machine odd with")
        sys.exit(SKIPPED)
    return OddMachine(program, root, os.path.abspath(sys.argv[3]))


def disk_that_refuses(program, root):
    """A state directory that turns read-only or is over its quota: refusals that say so, and all is well after it."""
    for number, words in ((errno.EROFS, "Read-only file system"), (errno.EDQUOT, "Disk quota exceeded")):
        place = os.path.join(root, str(number))
        os.makedirs(place)
        machine = odd_machine(place, program)
        server = Server(machine.program, place)
        server.bash("v=kept; touch before")
        machine.refuse(number, server.state)
        for command, tool in ((f"touch ran{number}", server.bash), ("touch", server.execute)):
            try:
                answer = tool(command, f"ran{number}") if tool == server.execute else tool(command)
                check(False, f"{words}: without its record nothing may run", answer)
            except RuntimeError as refused:
                check(words in str(refused), f"{words}: says why", str(refused))
        check(machine.refused() > 0, "the disk was asked")
        check(not os.path.exists(os.path.join(server.workspace, f"ran{number}")), "nothing ran")
        server.ping()
        machine.refuse(0)
        check(server.bash("echo $v")["stdout"] == "kept\n", f"{words}: afterwards all is as it was")
        check(server.execute("true")["exit_code"] == 0, "and programs run")
        for line in records(server):
            check(isinstance(line, dict), "whole records", line)
        ends_well(server)


def output_on_a_disk_that_refuses(program, root):
    """A disk that turns read-only under a running call: its output is counted, and the loss is said."""
    machine = odd_machine(root, program)
    server = Server(machine.program, root)
    server.bash(":")
    call = running(server, "echo up; until [ -e go ]; do sleep 0.01; done; head -c 3000000 /dev/zero | tr '\\0' x; echo; echo end")
    machine.refuse(errno.EROFS, server.state)
    with open(os.path.join(server.workspace, "go"), "w", encoding="ascii"):
        pass
    result = server.to_end({"state": "running", "call": call, "session": "main"})
    check(result["exit_code"] == 0, "the command is not hurt", result["exit_code"])
    check(result["stdout_counts"]["bytes"] == 3000008, "exact count", result["stdout_counts"])
    check(result["stdout_counts"]["stored"] < 3000008, "what is not on disk is not said to be", result["stdout_counts"])
    check(result["stdout"].endswith("end\n"), "the tail is there")
    machine.refuse(0)
    check(server.bash("echo on")["stdout"] == "on\n", "the server goes on")
    ends_well(server)


def wall_clock_jumps(program, root):
    """A day forward and back: limits, expiry and durations go by a clock that does not jump."""
    machine = odd_machine(root, program)
    server = Server(machine.program, root, ["--session-idle", "1h", "--max-sessions", "2"])
    server.bash("v=kept")
    call = running(server, "echo up; sleep 600", session="other", timeout_ms=3600 * 1000)
    for seconds in (DAY, -DAY, 0):
        machine.turn_clock(seconds)
        short = server.bash("sleep 600", timeout_ms=200)
        check(short["reason"] == "timeout", f"{seconds}: a limit that passes ends the call", short)
        check(0 <= short["duration_ms"] < 100000, f"{seconds}: the duration is what passed", short)
        seen = server.call("bash_output", call=call, session="other", yield_ms=0)
        check(seen["state"] == "running", f"{seconds}: a limit that does not pass ends nothing", seen)
        check(server.bash("echo $v")["stdout"] == "kept\n", f"{seconds}: no session is taken for idle")
        try:
            server.bash(":", session="third")
            check(False, f"{seconds}: no session makes room")
        except RuntimeError as refused:
            check("is the limit" in str(refused), "the refusal names the limit", str(refused))
    server.call("bash_kill", call=call, session="other")
    check(server.to_end({"state": "running", "call": call, "session": "other"})["reason"] == "cancelled", "ended")
    ends_well(server)
    log = subprocess.run([program, "log", "--json"], env=dict(os.environ, BAWN_RUNTIME_DIR=server.state),
                         capture_output=True, check=True).stdout
    calls = [line for line in log.splitlines() if line.strip()]
    check(len(calls) >= 8, "every call is in the log", log)


USER = 64321


def process_limit(pid):
    with open(f"/proc/{pid}/limits", encoding="ascii") as file:
        return next(line.split()[2] for line in file if line.startswith("Max processes"))


def limit_processes(limits):
    """Soft limits by pid, set as the user whose they are: not every root may. Who is gone is left out."""
    user = {"user": USER, "group": USER, "extra_groups": []} if os.geteuid() == 0 else {}
    done = [subprocess.run(["prlimit", f"--pid={pid}", f"--nproc={soft}:"], check=False, **user,
                           stderr=subprocess.DEVNULL).returncode == 0 for pid, soft in limits.items()]
    check(done[0] and sum(done) > len(done) // 2, "limits were set", done)


def as_ordinary_user(root, program):
    """What makes a process an ordinary user's, whose limits count; root's do not."""
    if os.geteuid() != 0:
        return None
    os.chown(root, USER, USER)
    for name in ("workspace", "state"):
        path = os.path.join(root, name)
        os.makedirs(path, mode=0o700)
        os.chown(path, USER, USER)
    if subprocess.run([program, "--version"], user=USER, group=USER, extra_groups=[], check=False, cwd="/",
                      stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0:
        print("skipped: an ordinary user cannot run the program where it lies")
        sys.exit(SKIPPED)

    def become():
        os.setgroups([])
        os.setgid(USER)
        os.setuid(USER)
        os.chdir("/")
    return become


def no_forks(program, root):
    """EAGAIN of every fork: each call is answered truly or refused with a sentence, and later ones run."""
    try:
        server = Server(program, root, before_exec=as_ordinary_user(root, program))
    except PermissionError:
        print("skipped: an ordinary user cannot run the program where it lies")
        sys.exit(SKIPPED)
    server.bash("v=kept; if true; then :; fi")  # a checker of texts waits from now on
    call = running(server, "echo up; sleep 600", session="other")
    before = {pid: process_limit(pid) for pid in [server.pid, *server.family()]}
    limit_processes(dict.fromkeys(before, 1))
    refused = []
    for ask in (lambda: server.execute("true"), lambda: server.bash(":", session="new"),
                lambda: server.bash("if true; then echo on; fi"), lambda: server.execute("true"),
                lambda: server.bash(":")):
        try:
            answer = ask()
            check(answer["exit_code"] == 0, "a true answer", answer)
        except RuntimeError as error:
            refused.append(str(error))
    check(len(refused) >= 2 and all(len(one) > 20 for one in refused), "refused with a sentence", refused)
    server.ping()
    limit_processes(before)
    check(server.execute("true")["exit_code"] == 0, "later calls run")
    check(server.bash("echo $v")["stdout"] == "kept\n", "in the shell of before")
    result = server.bash("sh -c 'exit 4'")
    check(result["exit_code"] == 4, "and commands", result)
    check(server.bash("echo on", session="new")["stdout"] == "on\n", "and new sessions")
    kill_in(server, call, "other")
    ends_well(server)


def no_memory(program, root):
    """Little or no address space beyond what it has: the server answers or ends, and ends when its client is gone."""
    for room in (0, 256 << 10, 1 << 20, 3 << 20, 4 << 20):
        server = Server(program, root)
        running(server, "echo up; sleep 600", session="other")
        family = server.family()
        with open(f"/proc/{server.pid}/statm", encoding="ascii") as file:
            used = int(file.read().split()[0]) * resource.getpagesize()
        resource.prlimit(server.pid, resource.RLIMIT_AS, (used + room, resource.RLIM_INFINITY))
        answers = 0
        try:
            for i in range(20):
                for tool, arguments in (("bash", {"command": ": " + "x" * (20_000 * i)}),
                                        ("exec", {"argv": ["head", "-c", str(400_000 * (i % 7)), "/dev/zero"]}),
                                        ("bash_output", {}),
                                        ("bash", {"command": "head -c 3000000 /dev/zero", "background": True})):
                    server.wait(server.start(tool, **arguments))
                    answers += 1
        except Gone:
            pass  # then all is lost at once, and nobody waits
        family += server.family()
        try:
            server.process.stdin.close()
        except BrokenPipeError:
            pass
        status = server.process.wait(DEADLINE)
        print(f"{room >> 10} KiB: {answers} answers, then status {status}")
        all_gone(family)


def kill_in(server, call, session):
    server.call("bash_kill", call=call, session=session)
    check(server.to_end({"state": "running", "call": call, "session": session})["reason"] == "cancelled", "ended")


def starved(program, root):
    """Beside eight loops on few processors, limits are held within twice their time."""
    server = Server(program, root)
    server.bash(":")
    loops = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(8)]
    try:
        for _ in range(5):  # other tests starve it too
            result = server.bash("sleep 600", timeout_ms=2000)
            check(result["reason"] == "timeout", "the limit ends it", result)
            if result["duration_ms"] <= 4000:
                break
        check(result["duration_ms"] <= 4000, "within twice the limit", result["duration_ms"])
        server.ping()
    finally:
        for loop in loops:
            loop.kill()
            loop.wait()
    ends_well(server)


def slow_disk(program, root):
    """While one session's file waits for the disk, other sessions and pings are answered."""
    server = Server(traced(program, root, "fsync,fdatasync", "delay_enter=10000000"), root)
    server.bash(":", session="other")
    server.bash(":")
    waiting = server.start("write_file", path="f", content="text\n")
    for i in range(3):
        server.ping()
        check(server.bash(f"echo {i}", session="other")["stdout"] == f"{i}\n", "another session answers")
    check(waiting not in server.answers, "the file still waits for the disk")
    server.finish(waiting)
    with open(os.path.join(server.workspace, "f"), encoding="ascii") as file:
        check(file.read() == "text\n", "it is written")
    ends_well(server)


def few_process_numbers(program, root):
    """Where process numbers come round every hundred processes, no call is taken for another."""
    if "BAWN_TEST_FEW" not in os.environ:
        inside = ["unshare", "-U", "-r", "-p", "-f", "--mount-proc", "--kill-child", sys.executable, *sys.argv]
        if not shutil.which("unshare"):
            sys.exit(SKIPPED)
        sys.exit(subprocess.run(inside, env=dict(os.environ, BAWN_TEST_FEW="1"), check=False).returncode)
    try:
        with open("/proc/sys/kernel/pid_max", "w", encoding="ascii") as file:
            file.write("400")  # of this namespace alone: Linux 6.14; before, a user namespace may not
    except OSError as error:
        print(f"skipped: a PID namespace here has no end of its own: {error}")
        sys.exit(SKIPPED)
    server = Server(program, root)
    server.bash("v=kept")
    highest = wraps = 0
    for i in range(150):
        result = server.execute("sh", "-c", f"echo $$ {i}; exit {i % 100}")
        check(result["exit_code"] == i % 100 and result["stdout"].endswith(f" {i}\n"), "its own answer", result)
        pids = server.bash(f"sleep 0 & sh -c 'echo $PPID' | cat; wait; echo {i} $v")
        check(pids["stdout"].endswith(f"{i} kept\n") and not pids["survivors"], "its own answer", pids)
        cut = server.bash("sleep 600 & sleep 600", timeout_ms=1) if i % 10 == 0 else None
        check(cut is None or cut["reason"] == "timeout" and not cut["survivors"], "ended by its limit", cut)
        number = int(subprocess.run(["sh", "-c", "echo $$"], capture_output=True, check=True).stdout)
        wraps += number < highest
        highest = number
    check(wraps >= 3, "numbers came round", wraps)
    ends_well(server)


if __name__ == "__main__":
    main(globals())
