#!/usr/bin/env python3
"""`bawn shell` on a real terminal: editing, Ctrl-C, completion, history.

Usage: person_on_a_terminal.py BAWN. Exits with 77 (skipped) where there is no pseudo-terminal.
"""
import os
import pty
import select
import sys
import tempfile
import time

DEADLINE = 100  # seconds for the whole session; nothing waits for a fixed time


class Terminal:
    def __init__(self, program, workspace, state):
        self.seen = b""
        self.end = time.monotonic() + DEADLINE
        self.pid, self.fd = pty.fork()
        if self.pid == 0:
            os.chdir(workspace)
            environment = dict(os.environ, BAWN_RUNTIME_DIR=state, TERM="xterm")
            os.execve(program, ["bawn", "shell"], environment)

    def expect(self, text):
        while text not in self.seen:
            ready, _, _ = select.select([self.fd], [], [], max(0, self.end - time.monotonic()))
            part = b""
            if ready:
                try:
                    part = os.read(self.fd, 4096)
                except OSError:
                    pass  # the other end is closed
            if not part:
                sys.exit(f"waited for {text!r}, saw {self.seen!r}")
            self.seen += part
        self.seen = self.seen.split(text, 1)[1]

    def type(self, text):
        os.write(self.fd, text)


def drive(terminal, has_editing):
    terminal.expect(b"bawn$ ")
    terminal.type(b"echo h''ello\n")
    terminal.expect(b"\nhello")
    terminal.expect(b"[exit 0 ")

    # The command says when it runs; Ctrl-C then ends it and not the program.
    terminal.type(b"echo rea''dy; sleep 600\n")
    terminal.expect(b"ready")
    terminal.type(b"\x03")
    terminal.expect(b"[cancelled")

    # At an idle prompt it gives a new one, whenever it comes: as soon as the prompt is seen, and
    # between a command's end and the prompt (which then may come once or twice).
    terminal.expect(b"bawn$ ")
    terminal.type(b"\x03")
    terminal.expect(b"bawn$ ")
    terminal.type(b"echo o''ne\n")
    terminal.expect(b"[exit 0 ")
    terminal.type(b"\x03")
    terminal.expect(b"bawn$ ")
    terminal.type(b"echo n''ext\n")
    terminal.expect(b"next\r\n")

    terminal.expect(b"bawn$ ")
    terminal.type(b"if true\n")
    terminal.expect(b"> ")
    terminal.type(b"then echo wh''ole; fi\n")
    terminal.expect(b"\nwhole")

    if has_editing:
        terminal.expect(b"bawn$ ")
        terminal.type(b"\x1b[A\n")  # the last command again
        terminal.expect(b"\nwhole")
        terminal.expect(b"bawn$ ")
        terminal.type(b"echo dropped\x03")
        terminal.expect(b"bawn$ ")
        terminal.type(b"cat unlikely\t\n")
        terminal.expect(b"\nfound it")
    terminal.expect(b"bawn$ ")
    terminal.type(b"exit 9\n")
    _, status = os.waitpid(terminal.pid, 0)
    if os.waitstatus_to_exitcode(status) != 9:
        sys.exit(f"ended with {os.waitstatus_to_exitcode(status)}, not 9")


def main():
    program = os.path.abspath(sys.argv[1])
    with tempfile.TemporaryDirectory() as workspace, tempfile.TemporaryDirectory() as state:
        with open(os.path.join(workspace, "unlikely-name"), "w") as file:
            file.write("found it\n")
        try:
            terminal = Terminal(program, workspace, state)
        except OSError as error:
            print(f"skipped: {error}")
            sys.exit(77)
        has_editing = any(
            os.path.exists(os.path.join(folder, "libedit.so.2"))
            for folder in ("/usr/lib/x86_64-linux-gnu", "/usr/lib/aarch64-linux-gnu", "/usr/lib", "/lib")
        )
        drive(terminal, has_editing)


if __name__ == "__main__":
    main()
