#!/usr/bin/env python3
"""Ends, twins and upgrades of a server, and a filter around it that kills.

Usage: server_faults.py BAWN [NAME]     without a name: the names
"""
import ctypes
import json
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
import threading
import time

sys.dont_write_bytecode = True  # nothing is left in the checkout
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/python"))
from bawn_server import Gone, Server, family_of, until  # noqa: E402
from looks import SKIPPED, all_gone, check, ends_well, main, records  # noqa: E402

GRACE = 1.5  # seconds that running calls have from the first signal on
STUBBORN = "trap '' INT TERM; touch up; while :; do sleep 1; done"


def is_pending(pid, number):
    with open(f"/proc/{pid}/status", encoding="ascii", errors="replace") as file:
        masks = [int(line.split()[1], 16) for line in file if line.startswith(("SigPnd:", "ShdPnd:"))]
    return any(mask >> (number - 1) & 1 for mask in masks)


def send_taken(process, number):
    """Sends a signal and waits until it was taken: two that are pending at once would be one."""
    process.send_signal(number)
    until(lambda: process.poll() is not None or not is_pending(process.pid, number), "the signal was taken")


def stubborn_call(server):
    server.start("bash", command=STUBBORN, yield_ms=45000)
    mark = os.path.join(server.workspace, "up")
    until(lambda: os.path.exists(mark), "it runs")
    os.remove(mark)
    return server.family()


def server_terminated_twice(program, root):
    """The first SIGTERM gives a running call its time, the second does not."""
    for _ in range(5):  # a machine that is busy elsewhere may take as long as the grace
        server = Server(program, root)
        family = stubborn_call(server)
        send_taken(server.process, signal.SIGTERM)
        begin = time.monotonic()
        server.process.send_signal(signal.SIGTERM)
        check(server.process.wait(60) == 0, "exit status", server.errors)
        took = time.monotonic() - begin
        all_gone(family)
        if took < GRACE:
            return
    check(False, "a second signal cuts the grace short", took)


def connected(path):
    """A client of the server at a unix socket, which has been greeted."""
    client = socket.socket(socket.AF_UNIX)
    client.connect(path)
    lines = client.makefile("rwb")
    lines.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": {"name": "tests", "version": "1"}}}).encode() + b"\n")
    lines.flush()
    check("result" in json.loads(lines.readline()), "greeted")
    return client, lines


def socket_server_terminated_twice(program, root):
    """So it is for a server of many clients."""
    for turn in range(5):
        place = os.path.join(root, str(turn))
        workspace, path = os.path.join(place, "workspace"), os.path.join(place, "socket")
        os.makedirs(workspace)
        process = subprocess.Popen([program, "mcp", "--workspace", workspace, "--listen", f"unix:{path}"],
                                   stderr=subprocess.PIPE,
                                   env=dict(os.environ, BAWN_RUNTIME_DIR=os.path.join(place, "state")))
        check(b"serving" in process.stderr.readline(), "it serves")
        client, lines = connected(path)
        call = {"jsonrpc": "2.0", "id": 2, "method": "tools/call",
                "params": {"name": "bash", "arguments": {"command": STUBBORN, "yield_ms": 45000}}}
        lines.write(json.dumps(call).encode() + b"\n")
        lines.flush()
        mark = os.path.join(workspace, "up")
        until(lambda mark=mark: os.path.exists(mark), "it runs")
        family = family_of(process.pid)
        send_taken(process, signal.SIGTERM)
        begin = time.monotonic()
        process.send_signal(signal.SIGTERM)
        check(process.wait(60) == 0, "exit status")
        took = time.monotonic() - begin
        all_gone(family)
        client.close()
        process.stderr.close()
        if took < GRACE:
            return
    check(False, "a second signal cuts the grace short", took)


def serve_three(which, program, root, servers, names):
    server = Server(program, root)
    for i in range(3):
        result = server.bash(f"echo {which} {i}")
        check(result["stdout"] == f"{which} {i}\n", "its own output", result)
        names.append(result["call"])
    servers[which] = server


def two_servers_at_once(program, root, rounds=10):
    """Servers that begin on one state at the same moment share it: no call's name is another's."""
    names = []
    for turn in range(rounds):
        twins = {}
        threads = [threading.Thread(target=serve_three, args=(which, program, root, twins, names))
                   for which in (0, 1)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        check(len(twins) == 2, f"round {turn}: both serve")
        left = os.listdir(os.path.join(root, "state", "sessions"))
        check(len(left) == 2, f"round {turn}: a directory for each", left)
        for line in records(twins[0]):
            check(isinstance(line, dict), "whole records", line)
        for server in twins.values():
            ends_well(server)
    check(len(names) == 6 * rounds and len(set(names)) == len(names), "no two calls have one name", names)


def refusal(server, **arguments):
    """The sentence with which a call is refused."""
    try:
        answer = server.bash("echo on", **arguments)
    except RuntimeError as refused:
        return str(refused)
    raise AssertionError(f"it was not refused: {answer!r}")


def put_in_place(what, where):
    """As installers do: the old file goes on under no name."""
    shutil.copy2(what, where + ".new")
    os.rename(where + ".new", where)


def program_replaced(program, root):
    """An upgrade under a running server: its sessions go on, and new ones begin or are refused with a reason."""
    place = os.path.join(root, "bin")
    os.makedirs(place)
    own = {name: os.path.join(place, name) for name in ("bawn", "bawn-warden")}
    for name, path in own.items():
        shutil.copy2(os.path.join(os.path.dirname(program), name), path)
    server = Server(own["bawn"], root)
    server.bash("v=kept")
    for name, path in own.items():
        put_in_place(os.path.join(os.path.dirname(program), name), path)
    check(server.bash("echo on", session="second")["stdout"] == "on\n", "a new session of the same version")

    with open(os.path.join(root, "other"), "w", encoding="ascii") as file:
        file.write("#!/bin/sh\nexit 3\n")
    os.chmod(file.name, 0o755)
    put_in_place(file.name, own["bawn-warden"])
    check("warden" in refusal(server, session="third"), "what stands there is no warden")

    os.remove(own["bawn-warden"])
    os.remove(own["bawn"])
    said = refusal(server, session="fourth")
    check("bawn-warden is not at" in said and place in said, "it says what is not where", said)
    check(server.bash("kill -9 $$")["shell_restarted"], "a shell that dies is replaced from inside")
    server.bash("cd /; v=again")
    check(server.bash("echo $v; pwd")["stdout"] == "again\n/\n", "and its session goes on")
    server.call("write_file", path="f", content="text\n")
    check(server.execute("cat", "f")["stdout"] == "text\n", "files and programs too")

    put_in_place(os.path.join(os.path.dirname(program), "bawn-warden"), own["bawn-warden"])
    check(server.bash("echo on", session="fifth")["stdout"] == "on\n", "once it is back, new ones begin")
    ends_well(server)


def kill_on(*numbers):
    """Has the kernel kill a process, and all that it starts, for these system calls."""
    load, jump_equal, give, allow, kill = 0x20, 0x15, 0x06, 0x7fff0000, 0x80000000
    program = [(load, 0, 0, 0)]  # the system call's number
    for number in numbers:
        program += [(jump_equal, 0, 1, number), (give, 0, 0, kill)]
    program.append((give, 0, 0, allow))
    code = b"".join(struct.pack("HBBI", *line) for line in program)

    def apply():
        libc = ctypes.CDLL(None, use_errno=True)
        lines = ctypes.create_string_buffer(code)
        whole = struct.pack("HxxxxxxP", len(program), ctypes.addressof(lines))
        libc.prctl(38, 1, 0, 0, 0)  # PR_SET_NO_NEW_PRIVS
        if libc.prctl(22, 2, whole, 0, 0) != 0:  # PR_SET_SECCOMP, a filter
            os._exit(77)
    return apply


def filter_that_kills(program, root):
    """Where a container's filter kills for Landlock's calls, the server lives and says that the layer is not there."""
    if os.uname().machine not in ("x86_64", "aarch64"):
        sys.exit(SKIPPED)
    try:
        server = Server(program, root, before_exec=kill_on(444, 445, 446))
    except Gone:
        check(False, "it starts")
    result = server.bash("echo on; grep Seccomp: /proc/self/status")
    check(result["stdout"].startswith("on\n"), "it serves", result)
    landlock = [layer for layer in layers_of(server) if layer["name"] == "landlock"]
    check(landlock and not landlock[0]["applied"] and "kills" in landlock[0]["reason"], "it says so", landlock)
    ends_well(server)


def layers_of(server):
    answer = server.wait(server.start("bash", command=":"))
    return answer["result"]["_meta"]["bawn/confinement"]["layers"]


if __name__ == "__main__":
    main(globals())
