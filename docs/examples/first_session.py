#!/usr/bin/env python3
"""A first session: what a client says to `bawn mcp`, and what comes back.

usage: first_session.py BAWN WORKSPACE

Starts the server on stdio, calls the tool `bash` over one connection, and prints what an
agent would see. It needs nothing but Python's standard library.
"""
import json
import subprocess
import sys
import time


class Client:
    """The smallest MCP client (2026-07-28): one JSON object per line, answers matched by id."""

    META = {
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    }

    def __init__(self, argv):
        self.server = subprocess.Popen(argv, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.last_id = 0

    def send(self, message):
        self.server.stdin.write(json.dumps({"jsonrpc": "2.0", **message}) + "\n")
        self.server.stdin.flush()

    def start(self, tool, **arguments):
        self.last_id += 1
        self.send({"id": self.last_id, "method": "tools/call",
                   "params": {"name": tool, "arguments": arguments, "_meta": self.META}})
        return self.last_id

    def wait(self, request_id):
        for line in self.server.stdout:
            answer = json.loads(line)
            if answer.get("id") == request_id:
                return answer["result"] if "result" in answer else answer["error"]
        raise SystemExit("the server ended without an answer")

    def call(self, tool, **arguments):
        return self.wait(self.start(tool, **arguments))

    def cancel(self, request_id):
        """A cancelled request is not answered: its call is ended, the shell stays."""
        self.send({"method": "notifications/cancelled",
                   "params": {"requestId": request_id, "_meta": self.META}})

    def close(self):
        self.server.stdin.close()
        return self.server.wait()


def show(title, command, result):
    print(f"\n\033[1m{title}\033[0m\n  $ {command}")
    for part in result.get("content", []):
        for line in part.get("text", "").rstrip().splitlines():
            print("  | " + line)


def main():
    bawn, workspace = sys.argv[1:3]
    client = Client([bawn, "mcp", "--workspace", workspace])

    def bash(title, command, **more):
        result = client.call("bash", command=command, **more)
        show(title, command.strip(), result)
        return result

    bash("State is kept from call to call", "cd docs; name=bawn; greet() { echo \"hello from $name in ${PWD##*/}\"; }")
    bash("… directory, variable and function are still there", "greet")
    bash("A write outside the workspace is denied and explained", "echo x > /etc/bawn-was-here")
    started = time.monotonic()
    bash("A background server does not hold the call", "python3 -m http.server 8123 >/dev/null 2>&1 & echo started")
    print(f"  (answered after {(time.monotonic() - started) * 1000:.0f} ms)")
    request = client.start("bash", command="echo working; sleep 600")
    time.sleep(0.3)  # somebody presses stop
    client.cancel(request)
    print("\n\033[1mAn interrupt ends the command and keeps the shell\033[0m\n  $ echo working; sleep 600   (cancelled)")
    result = bash("… the same shell goes on", "greet; jobs")

    report = result.get("_meta", {}).get("bawn/confinement", {})
    print("\n\033[1mEvery result says how its call was confined\033[0m")
    print(f"  confined by {report.get('by')} under {report.get('policy')}, as {report.get('user')}")
    for layer in report.get("layers", []):
        state = "applied" if layer.get("applied") else "not applied: " + layer.get("reason", "")
        abi = f" (ABI {layer['abi']})" if layer.get("abi") else ""
        print(f"  {layer['name']:<12}{state}{abi}")
    print(f"  holds: {', '.join(report.get('guarantees', []))}")
    return client.close()


sys.exit(main())
