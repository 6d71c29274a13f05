#!/usr/bin/env python3
"""What a server must survive, one function each, with the same look at it afterwards.

Usage: faults.py BAWN [NAME]     without a name: the names
"""
import json
import os
import signal
import subprocess
import sys
import tempfile
import time

sys.dont_write_bytecode = True  # nothing is left in the checkout
sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../support/python"))
from bawn_server import Gone, Server, children_of, limit_files, limit_size, until  # noqa: E402
from looks import (SKIPPED, TREE, all_gone, check, ended, ends_well, kill, main, records, running,  # noqa: E402
                   traced)


def server_killed(program, root):
    """Everything of a killed server ends; the next one on the same state serves and its records are whole."""
    server = Server(program, root)
    call = running(server)
    family = server.family()
    check(len(family) >= 4, "a tree of processes", family)
    os.kill(server.pid, signal.SIGKILL)
    server.process.wait()
    all_gone(family)
    following = Server(program, root)
    check(following.bash("echo new")["stdout"] == "new\n", "a new server serves")
    for line in records(following):
        check(isinstance(line, dict) and call not in json.dumps(line), "the dead server's records are closed", line)
    ends_well(following)


def server_killed_without_a_wall(program, root):
    """Where nothing walls them, a shell and a program that run in circles end with their server too."""
    server = Server(program, root, ["--policy", "unconfined", "--allow-unconfined"])
    begun = server.begin("setsid sh -c 'while :; do :; done' & echo up; while :; do :; done")
    server.shows(begun, "up")
    server.start("exec", argv=["sh", "-c", "while :; do :; done"])
    until(lambda: len(server.family()) >= 5, "all run")
    family = server.family()
    os.kill(server.pid, signal.SIGKILL)
    server.process.wait()
    all_gone(family)


def server_killed_again_and_again(program, root):
    for _ in range(5):
        server = Server(program, root)
        running(server)
        family = server.family()
        os.kill(server.pid, signal.SIGKILL)
        server.process.wait()
        all_gone(family)
    following = Server(program, root)
    check(following.bash("echo new")["stdout"] == "new\n", "a new server serves")
    left = [name for name in os.listdir(os.path.join(root, "state", "sessions"))]
    check(len(left) == 1, "one session's directory, the others were cleared away", left)
    ends_well(following)


def some_calls(server):
    """A call of each kind; false when the server or its session was lost on the way."""
    try:
        server.bash("echo up; sleep 600 & setsid sleep 600 & (exit 3)")
        server.execute("sh", "-c", "head -c 300000 /dev/zero")
        return True
    except (Gone, RuntimeError):
        return False


def killed_at_any_point(program, root):
    """SIGKILL at the n-th call of a kind, of the server or of what it started: nothing runs on, and the next
    server finds whole records, serves, and clears all away."""
    survived = lost = 0
    for calls in ("write", "clone,clone3", "execve", "mkdir,unlink,fsync"):
        for turn in (1, 2, 3, 4, 6, 9, 14, 21):
            place = os.path.join(root, f"{calls[:5]}{turn}")
            os.makedirs(place)
            try:
                server = Server(traced(program, place, calls, f"signal=KILL:when={turn}"), place)
            except Gone:
                lost += 1
                continue  # before it could answer anything
            answered = some_calls(server)
            survived += answered
            lost += not answered
            family = server.family()
            try:
                server.close()
            except Gone:
                pass
            all_gone(family)
            following = Server(program, place)
            check(following.bash("echo new")["stdout"] == "new\n", f"{calls} {turn}: a new server serves")
            for line in records(following):
                check(isinstance(line, dict), "whole records", line)
            left = os.listdir(os.path.join(place, "state", "sessions"))
            check(len(left) == 1, f"{calls} {turn}: one session's directory", left)
            ends_well(following)
    check(survived > 0, "later points were reached")
    check(lost > 0, "something was killed")


def write_errors(program, root):
    """EIO of the server's syncs, and interrupted calls: answers stay true, and what is lost is said."""
    for name, calls, injection in (("eio", "fsync,fdatasync,fallocate,ftruncate", "error=EIO"),
                                   ("eintr", "poll,ppoll,epoll_wait,recvmsg,accept4", "error=EINTR:when=3+7")):
        place = os.path.join(root, name)
        os.makedirs(place)
        server = Server(traced(program, place, calls, injection), place)
        check(server.bash("v=1; echo out; echo err >&2; (exit 3)")["exit_code"] == 3, f"{name}: a true status")
        result = server.bash("head -c 3000000 /dev/zero | tr '\\0' x; echo; echo end")
        check(result["stdout_counts"]["bytes"] == 3000005, f"{name}: exact count", result["stdout_counts"])
        check(server.bash("cat; echo $v", stdin="in\n")["stdout"] == "in\n1\n", f"{name}: input and state")
        check(server.execute("sh", "-c", "exit 4")["exit_code"] == 4, f"{name}: exec")
        try:
            server.call("write_file", path="f", content="text\n")
            check(name != "eio", "a file that could not be synchronised is not said to be written")
        except RuntimeError as refused:
            check(name == "eio" and "Input/output error" in str(refused), f"{name}: says why", str(refused))
            check(not os.path.exists(os.path.join(server.workspace, "f")), "nothing half-written")
        server.ping()
        check(server.close() == 0, f"{name}: exit status", server.errors)


def warden_killed(program, root):
    """The call ends as lost, all processes end, and the next call has a new session."""
    server = Server(program, root)
    number = server.start("bash", command=TREE)
    # The stub is the server's child, the warden the stub's.
    until(lambda: len(server.family()) >= 6, "the tree runs")
    family = server.family()
    wardens = [one for stub in children_of(server.pid) for one in children_of(stub)]
    check(wardens, "a warden", family)
    for warden in wardens:
        os.kill(warden, signal.SIGKILL)
    lost = server.to_end(server.finish(number))
    check(lost["reason"] == "shell_lost", "the call is lost", lost)
    all_gone(family)
    check(server.bash("echo on")["stdout"] == "on\n", "a new session")
    ends_well(server)


def shell_killed(program, root):
    server = Server(program, root)
    server.bash("v=kept")
    server.call("bash_restart", keep_state=True)
    result = server.bash("kill -9 $$")
    check(result["reason"] == "signalled" and result["signal"] == 9, "killed by 9", result)
    check(result["shell_restarted"], "a new shell", result)
    check(server.bash("echo $v")["stdout"] == "kept\n", "with the saved state")
    ends_well(server)


def client_gone_in_a_call(program, root):
    server = Server(program, root)
    running(server)
    server.start("bash", command="sleep 600", session="other")
    until(lambda: len(server.family()) >= 8, "both run")
    family = server.family()
    status = server.close()
    check(status == 0, "exit status", status)
    all_gone(family)


def client_gone_after_the_last_request(program, root):
    """What was asked before the end of the input is answered."""
    server = Server(program, root)
    server.bash(":")
    number = server.start("bash", command="echo last")
    server.process.stdin.close()
    try:
        answer = server.finish(number)
        check(answer["stdout"] == "last\n" or answer["reason"] in ("shell_lost", "cancelled"), "answered", answer)
    except Gone:
        pass  # or the connection is closed without an untrue answer
    check(server.process.wait(60) == 0, "exit status")


def server_terminated(program, root):
    server = Server(program, root)
    running(server)
    family = server.family()
    server.process.send_signal(signal.SIGTERM)
    server.process.wait(60)
    all_gone(family)


def server_stopped_and_continued(program, root):
    """A time limit that passes while the server is stopped is enforced once it goes on."""
    server = Server(program, root)
    call = running(server, timeout_ms=1000)
    server.process.send_signal(signal.SIGSTOP)
    until(lambda: open(f"/proc/{server.pid}/stat", encoding="latin1").read().rpartition(")")[2].split()[0] == "T",
          "stopped")
    time.sleep(1.2)  # the limit itself is what passes here
    server.process.send_signal(signal.SIGCONT)
    result = ended(server, call)
    check(result["reason"] == "timeout", "the limit ended it", result)
    check(server.bash("echo on")["stdout"] == "on\n", "the shell goes on")
    ends_well(server)


def output_disk_full(program, root):
    """Output that cannot be written to disk: head, tail and counts are right, and the loss is said."""
    server = Server(program, root, before_exec=limit_size(256 * 1024))
    result = server.bash("head -c 3000000 /dev/zero | tr '\\0' x; echo; echo end")
    check(result["exit_code"] == 0, "the command is not hurt", result["exit_code"])
    check(result["stdout_counts"]["bytes"] == 3000005, "exact count", result["stdout_counts"])
    check(result["stdout"].endswith("end\n"), "the tail is there")
    check(server.bash("echo on")["stdout"] == "on\n", "the server goes on")
    ends_well(server)


def record_disk_full(program, root):
    """A record that cannot be written: the command does not run, and the answer says why."""
    server = Server(program, root, before_exec=limit_size(64))
    try:
        answer = server.bash("touch ran")
        check(False, "refused", answer)
    except RuntimeError as refused:
        check("record" in str(refused).lower() or "too large" in str(refused).lower(), "says why", str(refused))
    check(not os.path.exists(os.path.join(server.workspace, "ran")), "nothing ran")
    server.ping()
    ends_well(server)


def state_disk_full(program, root):
    """A full disk under the state directory: refusals with a reason, and a server that goes on."""
    if os.geteuid() != 0:
        sys.exit(SKIPPED)
    state = os.path.join(root, "state")
    os.makedirs(state, mode=0o700)
    mounted = subprocess.run(["mount", "-t", "tmpfs", "-o", "size=256k,mode=700", "bawn-test", state], check=False)
    if mounted.returncode != 0:
        sys.exit(SKIPPED)
    try:
        server = Server(program, root)
        check(server.bash("echo on")["stdout"] == "on\n", "it works before")
        filler = os.path.join(state, "filler")
        with open(filler, "wb", buffering=0) as file:
            try:
                while True:
                    file.write(b"x" * 4096)
            except OSError:
                pass
        for _ in range(3):
            try:
                result = server.bash("echo full")
                check(result["stdout"] == "full\n", "a true answer", result)
            except RuntimeError as refused:
                check(len(str(refused)) > 20, "a sentence", str(refused))
        server.ping()
        os.remove(filler)
        check(server.bash("echo again")["stdout"] == "again\n", "it works again")
        for line in records(server):
            check(isinstance(line, dict), "whole records", line)
        ends_well(server)
    finally:
        subprocess.run(["umount", "-l", state], check=False)


def descriptors_exhausted(program, root):
    """Calls that find no descriptor are refused with a sentence; later ones work."""
    server = Server(program, root, before_exec=limit_files(64))
    server.bash(":")
    calls = []
    refused = None
    while refused is None and len(calls) < 16:
        try:
            calls.append(server.call("exec", argv=["sleep", "600"], yield_ms=0)["call"])
        except RuntimeError as error:
            refused = str(error)
    check(calls and refused is not None and len(refused) > 20, "some begin, then one is refused", (calls, refused))
    at_once = [server.start("exec", argv=["true"]) for _ in range(30)]
    for number in at_once:
        answer = server.wait(number)
        check("result" in answer, "each is answered", answer)
    server.ping()
    for call in calls:
        kill(server, call)
    check(server.bash("echo on")["stdout"] == "on\n", "later calls work")
    ends_well(server)


def sessions_at_once(program, root, count=64):
    """64 sessions at once: none is refused, none sees another's output."""
    server = Server(program, root, ["--max-sessions", str(count)])
    asked = {}
    for i in range(count):
        asked[server.start("bash", command=f"v=token-{i}; echo $v; sleep 600 & jobs -p >/dev/null", session=f"s{i}")] = i
    for number, i in asked.items():
        check(server.to_end(server.finish(number))["stdout"] == f"token-{i}\n", f"session {i} has its own output")
    again = {server.start("bash", command="echo $v", session=f"s{i}"): i for i in range(count)}
    for number, i in again.items():
        check(server.to_end(server.finish(number))["stdout"] == f"token-{i}\n", f"session {i} kept its own state")
    try:
        server.bash(":", session="one-too-many")
        check(False, "the limit holds")
    except RuntimeError as refused:
        check(f"{count} sessions" in str(refused), "the refusal names the limit", str(refused))
    ends_well(server)


def waiting_call_holds_up_nobody(program, root):
    """While a call of one session is waited for, those of others and pings are answered."""
    server = Server(program, root)
    server.bash(":", session="other")
    waiting = server.start("exec", argv=["sleep", "600"], yield_ms=45000)
    also = server.start("bash", command="sleep 600", yield_ms=45000)
    for i in range(20):
        server.ping()
        check(server.bash(f"echo {i}", session="other")["stdout"] == f"{i}\n", "another session answers")
    check(waiting not in server.answers and also not in server.answers, "both are still waited for", server.answers)
    for number in (waiting, also):
        server.cancel(number)
    check(server.bash("echo on")["stdout"] == "on\n", "the shell goes on after the cancel")
    ends_well(server)


def output_of_a_dead_server(program, root):
    """What a killed server kept of its calls' output takes no room and no time of the next one."""
    server = Server(program, root)
    result = server.bash("head -c 50000000 /dev/zero")
    check(result["stdout_counts"]["stored"] == 50000000, "it was kept", result["stdout_counts"])
    os.kill(server.pid, signal.SIGKILL)
    server.process.wait()
    size = sum(os.path.getsize(os.path.join(folder, name))
               for folder, _, names in os.walk(os.path.join(root, "state")) for name in names)
    check(size < 1000000, "nothing of it is left on disk", size)
    following = Server(program, root)
    check(following.bash("echo new")["stdout"] == "new\n", "a new server serves")
    ends_well(following)


def idle_session_makes_room(program, root):
    server = Server(program, root, ["--max-sessions", "1", "--session-idle", "1ms"])
    server.bash("v=1", session="first")
    end = time.monotonic() + 60
    while True:  # a call can come before the millisecond is over
        try:
            second = server.bash("echo \"[$v]\"", session="second")
            break
        except RuntimeError as refused:
            check("is the limit" in str(refused), "no other refusal", str(refused))
            check(time.monotonic() < end, "room within a minute")
    check(second["stdout"] == "[]\n", "the idle one made room")
    ends_well(server)


def calls_beside_are_limited(program, root):
    server = Server(program, root, ["--max-calls", "1"])
    begun = server.call("exec", argv=["sleep", "600"], yield_ms=0)
    try:
        server.call("exec", argv=["true"])
        check(False, "refused")
    except RuntimeError as refused:
        check("limit" in str(refused), "the refusal says so", str(refused))
    kill(server, begun["call"])
    check(server.execute("true")["exit_code"] == 0, "there is room again")
    ends_well(server)


def killed_for_memory(program, root):
    """A kill by the kernel for lack of memory is called one. Needs a memory cgroup that we may make."""
    parent = "/sys/fs/cgroup/memory" if os.path.isdir("/sys/fs/cgroup/memory") else "/sys/fs/cgroup"
    group = os.path.join(parent, f"bawn-test-{os.getpid()}")
    limit = "memory.limit_in_bytes" if parent.endswith("memory") else "memory.max"
    try:
        os.mkdir(group)
        with open(os.path.join(group, limit), "w", encoding="ascii") as file:
            file.write(str(96 << 20))
    except OSError:
        sys.exit(SKIPPED)
    try:
        def enter():
            with open(os.path.join(group, "cgroup.procs"), "w", encoding="ascii") as file:
                file.write(str(os.getpid()))
        server = Server(program, root, before_exec=enter)
        check(server.bash("echo small")["reason"] == "exited", "a small command exits")
        result = server.bash("head -c 400000000 /dev/zero | tail -c 390000000 | wc -c; exit_of=${PIPESTATUS[1]}; (exit $exit_of)")
        check(result["reason"] == "oom" and result["exit_code"] == 137, "killed for memory", result)
        check(server.bash("echo on")["stdout"] == "on\n", "the shell goes on")
        ends_well(server)
    finally:
        until(lambda: not open(os.path.join(group, "cgroup.procs"), encoding="ascii").read(), "an empty group")
        os.rmdir(group)


def login_environment(program, root):
    """What the profile exports is there if the policy lets the name in."""
    # The temporary directories are other ones inside the wall.
    with tempfile.TemporaryDirectory(prefix="bawn-test-", dir=os.path.dirname(program)) as home:
        os.chmod(home, 0o755)
        with open(os.path.join(home, ".bash_profile"), "w", encoding="ascii") as file:
            file.write("echo noise\nexport GOPATH='/a b' MY_API_TOKEN=secret\nPATH=$PATH:/opt/mine\n")
        os.environ["HOME"] = home
        os.environ.pop("GOPATH", None)
        plain = Server(program, root)
        seen = plain.bash("echo \"[$GOPATH]\"; test -r ~/.bash_profile")
        ends_well(plain)
        if seen["exit_code"] != 0:
            print("skipped: the program lies in a directory that is another one inside the wall")
            sys.exit(SKIPPED)
        check(seen["stdout"] == "[]\n", "not unless asked for", seen)
        server = Server(program, root, ["--login-environment"])
        check(server.bash("echo \"$GOPATH\"")["stdout"] == "/a b\n", "in the shell")
        check(server.bash("echo $PATH", session="two")["stdout"].endswith(":/opt/mine\n"), "in the next session")
        check(server.execute("printenv", "GOPATH")["stdout"] == "/a b\n", "in a program beside the shell")
        check(server.execute("printenv", "MY_API_TOKEN")["exit_code"] == 1, "no name that the policy leaves out")
        ends_well(server)


def closed_standard_streams(program, root):
    """Descriptors 3 to 50 open and a foreign umask at the start change nothing."""
    def before():
        for fd in range(3, 50):
            try:
                os.dup2(2, fd)
            except OSError:
                pass
        os.umask(0o777)
    server = Server(program, root, before_exec=before)
    seen = server.bash("ls /proc/self/fd | wc -l; umask")
    check(int(seen["stdout"].split()[0]) <= 6, "nothing was inherited", seen["stdout"])
    ends_well(server)


if __name__ == "__main__":
    main(globals())
