#!/usr/bin/env python3
"""`bawn mcp --http`: who reaches the server can be its client, so no command may become one that answers for the user.

Usage: grant_over_http.py BAWN
"""
import json
import os
import re
import subprocess
import sys
import tempfile
import urllib.request

TOKEN = "a-token-of-the-user-1"
REVISION = "2026-07-28"


class Server:
    def __init__(self, bawn, state, workspace, *words):
        command = [bawn, "mcp", "--http", "127.0.0.1:0", "--workspace", workspace, *words]
        self.process = subprocess.Popen(command, stderr=subprocess.PIPE, text=True,
                                        env=dict(os.environ, BAWN_RUNTIME_DIR=state))
        self.said = ""
        self.url = None
        for line in self.process.stderr:
            self.said += line
            found = re.search(r"serving at (\S+)", line)
            if found:
                self.url = found.group(1)
                break

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.stderr.read()
        self.process.wait()

    def bash(self, command, request=None, **more):
        arguments = {"command": command, "session": "s"}
        if request:
            arguments["request"] = dict(request, justification="the test wants it")
        meta = {"io.modelcontextprotocol/protocolVersion": REVISION,
                "io.modelcontextprotocol/clientCapabilities": {"elicitation": {"form": {}}}}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call",
                "params": {"name": "bash", "arguments": arguments, "_meta": meta, **more}}
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
                   "MCP-Protocol-Version": REVISION, "Mcp-Method": "tools/call", "Mcp-Name": "bash",
                   "Authorization": "Bearer " + TOKEN}
        opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
        asked = urllib.request.Request(self.url, json.dumps(body).encode(), headers)
        answer = opener.open(asked, timeout=60).read().decode()
        if not answer.startswith("{"):
            answer = [line[5:] for line in answer.splitlines() if line.startswith("data:")][-1]
        return json.loads(answer)["result"]


def text_of(result):
    return "".join(part.get("text", "") for part in result.get("content", []))


def expect(holds, what):
    if not holds:
        sys.exit(what)


def without_tokens(bawn, base, workspace, outside):
    for policy in ("workspace-write", "open-net"):
        with Server(bawn, base + "/state", workspace, "--policy", policy) as server:
            expect("give --token-file" in server.process.stderr.readline(), "nobody said so")
            result = server.bash(f"echo x >{outside}/made", {"write": [outside]})
            expect(result.get("resultType") != "input_required", result)
            expect("nothing ran" in text_of(result), result)
            expect(not os.path.exists(outside + "/made"), "a declined call ran")


def with_tokens(bawn, base, workspace, outside, tokens):
    with Server(bawn, base + "/state", workspace, "--token-file", tokens) as server:
        expect(TOKEN in open(tokens).read(), "the control: outside the wall the file is readable")
        result = server.bash(f"cat {tokens}; ls {base}/state/records; echo over")
        expect(TOKEN not in text_of(result) and "over" in text_of(result), result)
        expect(".jsonl" not in text_of(result), result)
        for request in ({"read": [tokens]}, {"read": [base + "/state"]}, {"write": [base + "/state"]}):
            result = server.bash("true", request)
            expect(result.get("resultType") != "input_required", result)
            expect(result.get("isError"), result)
        result = server.bash("true", {"write": [base]})
        expect("bawn's own" in text_of(result), result)
        # The user is asked, and reads all that decides what runs.
        result = server.bash("sh", {"write": [outside]})
        expect(result.get("resultType") == "input_required", result)
        # The mask of a session goes with the file that it lay on.
        with open(os.open(tokens + ".new", os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
            file.write(TOKEN + "\n")
        os.rename(tokens + ".new", tokens)
        result = server.bash("true", {"write": [outside]})
        expect("token file was replaced" in text_of(result), result)


def misplaced(bawn, base, workspace):
    inside = workspace + "/token"
    with open(os.open(inside, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
        file.write(TOKEN + "\n")
    with Server(bawn, base + "/state", workspace, "--token-file", inside) as server:
        expect(server.url is None, "a token file in the workspace is taken")
        expect("must lie outside" in server.said, server.said)


def main():
    bawn = sys.argv[1]
    with tempfile.TemporaryDirectory(dir="/var/tmp") as base:
        os.chmod(base, 0o755)
        workspace, outside, tokens = base + "/work", base + "/outside", base + "/tokens"
        os.mkdir(workspace)
        os.mkdir(outside)
        with open(os.open(tokens, os.O_CREAT | os.O_WRONLY, 0o600), "w") as file:
            file.write(TOKEN + "\n")
        without_tokens(bawn, base, workspace, outside)
        with_tokens(bawn, base, workspace, outside, tokens)
        misplaced(bawn, base, workspace)


main()
