#!/usr/bin/env python3
"""Makes the mcpb bundle, unpacks it and starts the server as its manifest says; checks server.json.

usage: registry_test.py DOCKER/registry PROGRAMS VERSION; exits 1 at the first thing that is wrong.
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

folder, programs, version = pathlib.Path(sys.argv[1]), sys.argv[2], sys.argv[3]
DISCOVER = {
    "jsonrpc": "2.0", "id": 1, "method": "server/discover",
    "params": {"_meta": {"io.modelcontextprotocol/protocolVersion": "2026-07-28",
                         "io.modelcontextprotocol/clientCapabilities": {}}},
}


def make(out):
    done = subprocess.run([sys.executable, folder / "bundle.py", programs, out],
                          capture_output=True, text=True, check=True)
    return done.stdout.strip()


def check_registry():
    """The rules of the registry's schema of 2025-12-11 that a mistake would break."""
    server = json.loads((folder / "server.json").read_text())
    assert server["version"] == version, server["version"]
    assert re.fullmatch(r"[A-Za-z0-9.-]+/[A-Za-z0-9._-]+", server["name"]), server["name"]
    assert 1 <= len(server["description"]) <= 100, len(server["description"])
    for package in server["packages"]:
        assert package["identifier"].endswith(":" + version), package
        assert package["transport"]["type"] == "stdio", package


def check_bundle(place):
    first, second = place / "a.mcpb", place / "b.mcpb"
    assert make(first) == make(second), "the same programs give another bundle"
    unpacked, workspace = place / "unpacked", place / "workspace"
    workspace.mkdir()
    with zipfile.ZipFile(first) as bundle:
        for entry in bundle.infolist():
            path = pathlib.Path(bundle.extract(entry, unpacked))
            path.chmod(entry.external_attr >> 16 & 0o777)
    manifest = json.loads((unpacked / "manifest.json").read_text())
    assert manifest["version"] == version, manifest["version"]
    assert (unpacked / manifest["server"]["entry_point"]).is_file()
    assert manifest["compatibility"]["platforms"] == ["linux"]
    config = manifest["server"]["mcp_config"]
    words = [word.replace("${__dirname}", str(unpacked)).replace("${user_config.workspace}", str(workspace))
             for word in (config["command"], *config["args"])]
    done = subprocess.run(words, input=json.dumps(DISCOVER) + "\n", text=True, capture_output=True,
                          timeout=60, check=False)
    answer = json.loads(done.stdout)
    info = answer["result"]["_meta"]["io.modelcontextprotocol/serverInfo"]
    assert info["name"] == "bawn" and info["version"] == version, info


check_registry()
with tempfile.TemporaryDirectory() as place:
    check_bundle(pathlib.Path(place))
print("the bundle serves; server.json keeps the registry's rules")
