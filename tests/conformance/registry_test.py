#!/usr/bin/env python3
"""Makes the mcpb bundle, unpacks it and starts the server as its manifest says; checks server.json
against the registry's rules and the image that it names.

usage: registry_test.py DOCKER/registry PROGRAMS VERSION; exits 1 at the first thing that is wrong.
"""
import copy
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import zipfile

sys.dont_write_bytecode = True  # the checkout stays as it is
import registry_rules as rules  # noqa: E402

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


def refuses(rules, value, change):
    """Whether the rules find what `change` does to a copy of `value`."""
    broken = copy.deepcopy(value)
    change(broken)
    try:
        rules(broken)
    except ValueError:
        return True
    return False


def check_registry():
    server = json.loads((folder / "server.json").read_text())
    rules.server(server)
    assert server["version"] == version, server["version"]
    for change in (
            lambda s: s.pop("name"),
            lambda s: s.update(name="bawn"),
            lambda s: s.update(name="a/b/c"),
            lambda s: s.update(description="x" * 101),
            lambda s: s.update(descripton="misspelt"),
            lambda s: s.update(version="^1.0"),
            lambda s: s["packages"][0].pop("transport"),
            lambda s: s["packages"][0].update(transport={"type": "pipe"}),
            lambda s: s["packages"][0].update(version=version),
            lambda s: s["packages"][0].update(identifier="ghcr.io/x/y:latest"),
            lambda s: s["packages"][0].pop("runtimeHint"),
            lambda s: s["packages"][0]["packageArguments"][0].pop("value"),
            lambda s: s["packages"][0]["packageArguments"][1].pop("name"),
            lambda s: s["packages"][0]["runtimeArguments"][2].pop("variables"),
            lambda s: s["packages"].append({"registryType": "mcpb", "identifier": "https://x/y.mcpb",
                                            "transport": {"type": "stdio"}})):
        assert refuses(rules.server, server, change), change


def check_image():
    """What server.json says of the image is so: the registry compares the label with the name."""
    server = json.loads((folder / "server.json").read_text())
    dockerfile = (folder.parent / "image" / "Dockerfile").read_text()
    label = re.search(r'io\.modelcontextprotocol\.server\.name="([^"]*)"', dockerfile)
    assert label and label[1] == server["name"], label
    before_entry = dockerfile.partition("ENTRYPOINT")[0]
    workspace = re.findall(r"^WORKDIR (\S+)$", before_entry, re.MULTILINE)[-1]
    image = server["packages"][0]
    assert image["packageArguments"][1]["value"] == workspace, workspace
    assert image["runtimeArguments"][2]["value"].endswith(":" + workspace), workspace


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
    rules.manifest(manifest)
    for change in (
            lambda m: m.pop("author"),
            lambda m: m.update(manifest_version="9"),
            lambda m: m["server"].update(type="shell"),
            lambda m: m["server"]["mcp_config"].pop("command"),
            lambda m: m["server"]["mcp_config"]["args"].append("${user_config.other}"),
            lambda m: m.update(user_config={}),
            lambda m: m["user_config"]["workspace"].update(type="folder"),
            lambda m: m["user_config"]["workspace"].pop("title"),
            lambda m: m["compatibility"].update(platforms=["plan9"])):
        assert refuses(rules.manifest, manifest, change), change
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
check_image()
with tempfile.TemporaryDirectory() as place:
    check_bundle(pathlib.Path(place))
print("the bundle serves; server.json keeps the registry's rules")
