#!/usr/bin/env python3
"""Reads the snippets of docs/hosts.md and starts each command line in them.

usage: hosts_test.py DOCS/hosts.md BAWN; exits 1 at the first snippet that does not parse or serve.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile

import tomllib

page, bawn = pathlib.Path(sys.argv[1]).read_text(), sys.argv[2]
DISCOVER = {
    "jsonrpc": "2.0", "id": 1, "method": "server/discover",
    "params": {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                         "io.modelcontextprotocol/clientCapabilities": {}}},
}


def servers(value):
    """Every entry with a command or a URL."""
    if isinstance(value, dict):
        if "command" in value or "url" in value:
            yield value
        for inner in value.values():
            yield from servers(inner)


def serves(entry, workspace):
    assert entry["command"] == "bawn", entry
    places = ("/home/you/project", "${workspaceFolder}")
    words = [workspace if word in places else word for word in entry["args"]]
    done = subprocess.run([bawn, *words], input=json.dumps(DISCOVER) + "\n", text=True,
                          capture_output=True, timeout=30, cwd=workspace, check=False)
    answer = json.loads(done.stdout)
    assert answer["result"]["capabilities"]["tools"] is not None, done.stdout
    assert len(answer["result"]["instructions"].encode()) <= 1024, "instructions are over 1 KiB"


found = 0
with tempfile.TemporaryDirectory() as workspace:
    for language, text in re.findall(r"```(json|toml)\n(.*?)```", page, re.S):
        entries = list(servers(json.loads(text) if language == "json" else tomllib.loads(text)))
        assert entries, text
        for entry in entries:
            found += 1
            if "command" in entry:
                serves(entry, workspace)
assert found >= 7, found
print(f"{found} snippets parse; their commands serve")
