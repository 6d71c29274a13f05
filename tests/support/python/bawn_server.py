"""One `bawn mcp` and a client of it, with looks at what the server holds: for tests that break things.

Waits are for events; the deadline is one that only a broken product reaches.
"""
import json
import os
import queue
import resource
import shutil
import subprocess
import tempfile
import threading
import time

DEADLINE = 120  # seconds


class Gone(Exception):
    """The server closed the connection."""


class Server:
    def __init__(self, program, root, arguments=(), before_exec=None, state=None, workspace=None):
        self.workspace = workspace or os.path.join(root, "workspace")
        self.state = state or os.path.join(root, "state")
        os.makedirs(self.workspace, exist_ok=True)
        os.makedirs(self.state, mode=0o700, exist_ok=True)
        environment = dict(os.environ, BAWN_RUNTIME_DIR=self.state)
        if os.environ.get("BAWN_TEST_BASH") and "--shell" not in arguments:
            arguments = [*arguments, "--shell", tested_bash_in(self.workspace)]
        self.process = subprocess.Popen(
            [program, "mcp", "--workspace", self.workspace, *arguments],
            stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment,
            preexec_fn=before_exec)
        self.answers = {}
        self.bad_lines = []
        self.changed = threading.Condition()
        self.over = False
        self.last_id = 0
        self.errors = b""
        self.writing = threading.Lock()
        self.readers = [threading.Thread(target=self._read_answers, daemon=True),
                        threading.Thread(target=self._read_errors, daemon=True)]
        for reader in self.readers:
            reader.start()
        self.wait(self.send("initialize", {
            "protocolVersion": "2025-11-25", "capabilities": {},
            "clientInfo": {"name": "tests", "version": "1"}}))
        self.notify("notifications/initialized", {})

    # The connection

    def _read_answers(self):
        for line in self.process.stdout:
            try:
                message = json.loads(line)
            except ValueError:
                message = None
            with self.changed:
                if not isinstance(message, dict):
                    self.bad_lines.append(line)
                elif "id" in message and "method" not in message:
                    if message["id"] in self.answers:
                        self.bad_lines.append(line)  # a second answer
                    self.answers[message["id"]] = message
                self.changed.notify_all()
        with self.changed:
            self.over = True
            self.changed.notify_all()

    def _read_errors(self):
        for line in self.process.stderr:
            self.errors += line

    def _write(self, message):
        try:
            with self.writing:
                self.process.stdin.write(json.dumps(message).encode() + b"\n")
                self.process.stdin.flush()
        except (BrokenPipeError, ValueError) as error:
            raise Gone() from error

    def notify(self, method, parameters):
        self._write({"jsonrpc": "2.0", "method": method, "params": parameters})

    def send(self, method, parameters):
        with self.changed:
            self.last_id += 1
            number = self.last_id
        self._write({"jsonrpc": "2.0", "id": number, "method": method, "params": parameters})
        return number

    def wait(self, number, deadline=DEADLINE):
        end = time.monotonic() + deadline
        with self.changed:
            while number not in self.answers:
                if self.over:
                    raise Gone()
                if not self.changed.wait(max(0, end - time.monotonic())) and time.monotonic() >= end:
                    raise AssertionError(f"no answer to request {number} within {deadline} s")
            return self.answers.pop(number)

    # Tools

    def start(self, tool, **arguments):
        return self.send("tools/call", {"name": tool, "arguments": arguments})

    def call(self, tool, **arguments):
        """The structured result; an answer that is an error raises with its text."""
        return self.finish(self.start(tool, **arguments))

    def finish(self, number, deadline=DEADLINE):
        return self.result(self.wait(number, deadline))

    @staticmethod
    def result(answer):
        if "error" in answer:
            raise RuntimeError(answer["error"]["message"])
        if answer["result"].get("isError") and "structuredContent" not in answer["result"]:
            raise RuntimeError(answer["result"]["content"][0]["text"])
        content = answer["result"]["structuredContent"]
        return content.get("result") or content  # bash_output gives a list or one call

    def bash(self, command, **arguments):
        """The result of the command at its end."""
        return self.to_end(self.call("bash", command=command, **arguments))

    def execute(self, *argv, **arguments):
        return self.to_end(self.call("exec", argv=list(argv), **arguments))

    def begin(self, command, **arguments):
        """Starts it and does not wait for its end."""
        return self.call("bash", command=command, yield_ms=0, **arguments)

    def to_end(self, result):
        """The whole of a call that may still run: what of it was shown before is shown again."""
        while result["state"] == "running":
            where = {"session": result["session"]} if result["session"] != "main" else {}
            result = self.call("bash_output", call=result["call"], yield_ms=45000, stdout_from=0, stderr_from=0,
                               **where)
        return result

    def shows(self, begun, text):
        """Waits until a running call printed `text`."""
        where = {"session": begun["session"]} if begun["session"] != "main" else {}
        if text in begun["stdout"]:
            return begun  # only what was not shown yet is waited for
        end = time.monotonic() + DEADLINE
        while True:
            seen = self.call("bash_output", call=begun["call"], yield_ms=20000, until=text, stdout_from=0, **where)
            if text in seen["stdout"]:
                return seen
            if seen["state"] != "running" or time.monotonic() > end:
                raise AssertionError(f"it never printed {text!r}: {seen!r}")

    def cancel(self, number):
        self.notify("notifications/cancelled", {"requestId": number, "reason": "test"})

    def ping(self):
        return self.wait(self.send("ping", {}))

    # What it holds

    @property
    def pid(self):
        return self.process.pid

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.pid}/fd"))

    def threads(self):
        return len(os.listdir(f"/proc/{self.pid}/task"))

    def resident(self):
        """KiB that are the server's own: what it shares with other programs does not count."""
        with open(f"/proc/{self.pid}/smaps_rollup", encoding="ascii") as file:
            return sum(int(line.split()[1]) for line in file
                       if line.startswith(("Private_Dirty:", "Private_Clean:")))

    def family(self):
        return family_of(self.pid)

    def zombies(self):
        return [pid for pid in self.family() if state_of(pid) == "Z"]

    def close(self):
        """Ends the connection and gives the exit status."""
        try:
            self.process.stdin.close()
        except BrokenPipeError:
            pass
        status = self.process.wait(DEADLINE)
        for reader in self.readers:
            reader.join(DEADLINE)
        self.process.stdout.close()
        self.process.stderr.close()
        return status


def tested_bash_in(workspace):
    """A copy of the bash under test below the workspace, which a session sees wherever the original lies."""
    copy = os.path.join(workspace, ".tested", "bash")
    if not os.path.exists(copy):
        os.makedirs(os.path.dirname(copy), exist_ok=True)
        shutil.copy(os.environ["BAWN_TEST_BASH"], copy)
    return copy


def children_of(pid):
    found = []
    try:
        for thread in os.listdir(f"/proc/{pid}/task"):
            with open(f"/proc/{pid}/task/{thread}/children", encoding="ascii") as file:
                found += [int(child) for child in file.read().split()]
    except OSError:
        pass  # it ended meanwhile
    return found


def family_of(pid):
    """All that descends from `pid`, without itself."""
    family = children_of(pid)
    for member in family:
        family += children_of(member)
    return family


def state_of(pid):
    try:
        with open(f"/proc/{pid}/stat", encoding="latin1") as file:
            return file.read().rpartition(")")[2].split()[0]
    except OSError:
        return None


def is_alive(pid):
    return state_of(pid) not in (None, "Z")


def until(seen, what, deadline=DEADLINE):
    """Looks until `seen` is true. For what gives no event that could be waited for."""
    end = time.monotonic() + deadline
    while not (value := seen()):
        if time.monotonic() > end:
            raise AssertionError(f"not within {deadline} s: {what}")
        time.sleep(0.005)
    return value


class Root:
    """A directory for one server, removed at the end."""

    def __enter__(self):
        self.directory = tempfile.TemporaryDirectory(prefix="bawn-test-")
        os.chmod(self.directory.name, 0o755)
        return self.directory.name

    def __exit__(self, *_):
        self.directory.cleanup()


def limit_files(soft):
    return lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (soft, soft))


def limit_size(bytes_):
    """What the process writes to a file ends there with EFBIG, as it would on a full disk."""
    def apply():
        import signal
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (bytes_, bytes_))
    return apply
