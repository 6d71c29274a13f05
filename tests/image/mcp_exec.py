#!/usr/bin/env python3
"""Runs a program through a server's tool `exec`, so that it can stand where a launcher does.

usage: mcp_exec.py ADDRESS TOKEN_FILE PROGRAM [ARGS...]
The program's output and status become this one's; the server's own words go to standard error.
"""
import os
import sys

from mcp_call import Server


def main():
    address, token_file = sys.argv[1:3]
    with open(token_file, encoding="utf-8") as file:
        server = Server(address, file.read().split()[0])
    result = server.call("exec", {"argv": sys.argv[3:], "session": "probe", "cwd": os.getcwd(),
                                  "yield_ms": 45000, "max_output_bytes": 102400})
    if result.get("isError"):
        print(result["content"][0]["text"], file=sys.stderr)
        return 126
    entry = result["structuredContent"]
    sys.stdout.write(entry["stdout"])
    sys.stdout.flush()
    sys.stderr.write(entry["stderr"])
    code = entry.get("exit_code")
    return 125 if code is None else code


sys.exit(main())
