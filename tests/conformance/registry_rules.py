"""What the MCP registry's schema of 2025-12-11 and the mcpb manifest of version 0.3 ask, in own words.

Stricter than both in one point: a member that they do not name is refused, since a misspelt one would
silently do nothing. A broken rule is a ValueError that says where.
"""
import re

TEXT = str
PLACEHOLDER = re.compile(r"(?<!\$)\{([A-Za-z0-9_]+)\}")
INPUT = {"description": TEXT, "isRequired": bool, "isSecret": bool, "format": TEXT, "value": TEXT,
         "default": TEXT, "placeholder": TEXT, "choices": list}


def ask(condition, where, what):
    if not condition:
        raise ValueError(f"{where}: {what}")


def members(where, value, required, optional=None):
    """An object that has all of `required` and nothing but these and `optional`, each of its type."""
    ask(isinstance(value, dict), where, "no object")
    known = required | (optional or {})
    for name in required:
        ask(name in value, where, f"{name} is missing")
    for name, one in value.items():
        ask(name in known, where, f"{name} is unknown")
        ask(isinstance(one, known[name]), f"{where}.{name}", "is of another type")


def text(where, value, least, most, pattern=".*"):
    ask(least <= len(value) <= most, where, f"has {len(value)} characters, not {least} to {most}")
    ask(re.fullmatch(pattern, value, re.DOTALL), where, f"is {value!r}")


def exact_version(where, value):
    text(where, value, 1, 255, r"[0-9][0-9A-Za-z.+-]*")


def argument(where, value):
    named = value.get("type") == "named"
    ask(named or value.get("type") == "positional", where, "is neither named nor positional")
    required = {"type": TEXT, "name": TEXT} if named else {"type": TEXT}
    members(where, value, required, INPUT | {"valueHint": TEXT, "isRepeated": bool, "variables": dict})
    ask(named or "value" in value or "valueHint" in value, where, "has neither value nor valueHint")
    variables = value.get("variables", {})
    for name, one in variables.items():
        members(f"{where}.variables.{name}", one, {}, INPUT)
        ask(one.get("format", "string") in ("string", "number", "boolean", "filepath"),
            f"{where}.variables.{name}", "has an unknown format")
    used = set(PLACEHOLDER.findall(value.get("value", "")))
    ask(used == set(variables), where, f"uses {sorted(used)} and describes {sorted(variables)}")


def transport(where, value):
    ask(value.get("type") in ("stdio", "streamable-http", "sse"), where, "is of an unknown type")
    if value["type"] == "stdio":
        members(where, value, {"type": TEXT})
    else:
        members(where, value, {"type": TEXT, "url": TEXT}, {"headers": list})
        text(f"{where}.url", value["url"], 1, 2000, r"https?://\S+")


def package(where, value, version):
    members(where, value, {"registryType": TEXT, "identifier": TEXT, "transport": dict},
            {"version": TEXT, "fileSha256": TEXT, "registryBaseUrl": TEXT, "runtimeHint": TEXT,
             "runtimeArguments": list, "packageArguments": list, "environmentVariables": list})
    if value["registryType"] == "oci":  # its version is the tag, and nothing else
        ask("version" not in value, where, "an image has no version beside its tag")
        ask(value["identifier"].endswith(":" + version), where, "the tag is another version")
    if value["registryType"] == "mcpb":
        text(f"{where}.fileSha256", value.get("fileSha256", ""), 64, 64, "[a-f0-9]*")
    if "version" in value:
        exact_version(f"{where}.version", value["version"])
    transport(f"{where}.transport", value["transport"])
    ask("runtimeHint" in value or "runtimeArguments" not in value, where, "runtimeHint is missing")
    for kind in ("runtimeArguments", "packageArguments"):
        for number, one in enumerate(value.get(kind, [])):
            argument(f"{where}.{kind}[{number}]", one)


def server(value):
    """The registry's server.json."""
    members("server", value, {"$schema": TEXT, "name": TEXT, "description": TEXT, "version": TEXT},
            {"title": TEXT, "repository": dict, "websiteUrl": TEXT, "icons": list, "packages": list,
             "remotes": list, "_meta": dict})
    text("$schema", value["$schema"], 1, 200,
         r"https://static\.modelcontextprotocol\.io/schemas/2025-12-11/server\.schema\.json")
    text("name", value["name"], 3, 200, r"[a-zA-Z0-9.-]+/[a-zA-Z0-9._-]+")
    text("description", value["description"], 1, 100)
    text("title", value.get("title", "-"), 1, 100)
    exact_version("version", value["version"])
    for number, one in enumerate(value.get("packages", [])):
        package(f"packages[{number}]", one, value["version"])


def manifest(value):
    """A bundle's manifest.json, for a program that is not interpreted."""
    members("manifest", value,
            {"manifest_version": TEXT, "name": TEXT, "version": TEXT, "description": TEXT, "author": dict,
             "server": dict},
            {"display_name": TEXT, "long_description": TEXT, "license": TEXT, "user_config": dict,
             "compatibility": dict, "homepage": TEXT, "documentation": TEXT, "support": TEXT, "icon": TEXT,
             "keywords": list, "tools": list, "tools_generated": bool})
    text("manifest_version", value["manifest_version"], 3, 3, r"0\.3")
    exact_version("version", value["version"])
    members("author", value["author"], {"name": TEXT}, {"email": TEXT, "url": TEXT})
    own = value["server"]
    members("server", own, {"type": TEXT, "entry_point": TEXT, "mcp_config": dict})
    text("server.type", own["type"], 1, 9, "binary")
    config = own["mcp_config"]
    members("mcp_config", config, {"command": TEXT}, {"args": list, "env": dict, "platform_overrides": dict})
    for name, one in value.get("user_config", {}).items():
        where = f"user_config.{name}"
        members(where, one, {"type": TEXT, "title": TEXT, "description": TEXT},
                {"required": bool, "default": object, "multiple": bool, "sensitive": bool})
        ask(one["type"] in ("string", "number", "boolean", "directory", "file"), where, "has an unknown type")
    used = set()
    for word in (config["command"], *config.get("args", []), *config.get("env", {}).values()):
        for name in re.findall(r"\$\{([^}]*)\}", word):
            ask(name == "__dirname" or name.startswith("user_config."), "mcp_config", f"{name} is unknown")
            used.add(name.removeprefix("user_config."))
    asked = set(value.get("user_config", {}))
    ask(used - {"__dirname"} == asked, "mcp_config", f"uses {sorted(used)} and asks for {sorted(asked)}")
    platforms = value.get("compatibility", {}).get("platforms", [])
    ask(set(platforms) <= {"darwin", "win32", "linux"}, "compatibility", "an unknown platform")
