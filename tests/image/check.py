#!/usr/bin/env python3
"""Runs an image of bawn as docs/image.md says and looks at it from outside.

usage: check.py IMAGE [--probes FOLDER] [--client COMMAND...]
The container is read-only, without capabilities, with the engine's default profiles, as user 1000.
--probes runs the escape probes of FOLDER through the server and prints their counts; --client runs a
command with the variables ADDRESS and TOKEN set. Prints what was seen and exits 1 when anything was
wrong. Uses this machine's network (port 8888 must be free): nothing of it is changed.
"""
import argparse
import json
import os
import secrets
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request

from mcp_call import Server

HERE = os.path.dirname(os.path.abspath(__file__))
ADDRESS = "http://127.0.0.1:8888"
failures = 0


def check(what, seen, wanted):
    global failures
    if wanted(seen):
        print(f"ok      {what}: {seen}")
    else:
        failures += 1
        print(f"FAILED  {what}: {seen}")


def podman(*words, fails_too=False):
    done = subprocess.run(["podman", *words], capture_output=True, text=True, check=False)
    if done.returncode != 0 and not fails_too:
        sys.exit(f"check: podman {' '.join(words)}: {done.stderr.strip()}")
    return done


def await_health(name):
    """Seconds until the server answers; a container that ends first is the failure."""
    began = time.monotonic()
    while True:
        try:
            with urllib.request.urlopen(ADDRESS + "/health", timeout=1) as reply:
                if reply.status == 200:
                    return time.monotonic() - began
        except (urllib.error.URLError, OSError):
            pass
        state = podman("inspect", "--format", "{{.State.Running}}", name, fails_too=True)
        if time.monotonic() - began > 120 or state.stdout.strip() == "false":
            sys.exit("check: the server did not come up: " + podman("logs", name).stderr)
        time.sleep(0.01)


def start(image, name, token_file, options, words_inside):
    words = ["run", "--detach", "--name", name, "--read-only", "--tmpfs", "/tmp:size=1g",
             "--pids-limit", "1024", "--memory", "4g",
             "--cap-drop", "ALL", "--security-opt", "no-new-privileges", "--network", "host",
             "--pull", "never", "--volume", f"{token_file}:/run/secrets/bawn/token:ro"]
    began = time.monotonic()
    podman(*words, *options, image, *words_inside)
    started = time.monotonic() - began
    return started, started + await_health(name)


def look(server, name):
    tools = server.ask("tools/list", {})["tools"]
    check("tools", sorted(tool["name"] for tool in tools), lambda names: "bash" in names)
    result = server.call("bash", {"command": "id -u; echo $PPID; touch /etc/x; echo $?",
                                  "session": "look"})
    report = result["_meta"]["bawn/confinement"]
    check("confined by", report["by"], lambda by: "landlock" in by and "seccomp" in by)
    check("the report is confirmed", report["confirmed"], lambda value: value is True)
    for layer in report["layers"]:
        print(f"        {layer['name']}: {'applied' if layer['applied'] else layer.get('reason')}")
    output = result["structuredContent"]["stdout"].split()
    check("commands run as", output[0], lambda uid: uid == "1000")
    check("writing /etc fails", output[-1], lambda status: status == "1")
    health = podman("healthcheck", "run", name, fails_too=True)
    check("health check", health.returncode, lambda status: status == 0)
    status = podman("exec", name, "cat", "/proc/1/status").stdout
    fields = dict(line.split(":\t", 1) for line in status.splitlines() if ":\t" in line)
    check("process 1", fields["Name"], lambda value: value == "tini")
    check("capabilities", fields["CapBnd"], lambda value: int(value, 16) == 0)
    check("no new privileges", fields["NoNewPrivs"], lambda value: value == "1")
    check("the engine's seccomp filter", fields["Seccomp"], lambda value: value == "2")


def run_probes(folder, token_file, arena):
    """The harness judges on this side: what changed here, who was reached, what still runs."""
    helper = os.path.join(os.path.dirname(arena), "probes")
    shutil.copytree(folder, helper)
    subprocess.run(["gcc", "-O1", "-static", "-w", "-o", helper + "/probe", helper + "/probe.c",
                    "-lrt"], check=True)
    json_file = os.path.join(os.path.dirname(arena), "result.json")
    launcher = ["/usr/bin/python3", os.path.join(HERE, "mcp_exec.py"), ADDRESS, token_file]
    if os.geteuid() == 0:
        # As the user of the container, so that what the harness makes is theirs.
        for file in (helper, *(os.path.join(helper, name) for name in os.listdir(helper))):
            os.chown(file, 1000, 1000)
        launcher_user = ["setpriv", "--reuid", "1000", "--regid", "1000", "--clear-groups", "--"]
    else:
        launcher_user = []
    done = subprocess.run([*launcher_user, "/usr/bin/python3", helper + "/run_probes.py", "--policy",
                           "ws", "--arena", arena, "--json", json_file, "--", *launcher],
                          capture_output=True, text=True, stdin=subprocess.DEVNULL, check=False)
    for line in done.stdout.splitlines():
        if " ESCAPED" in line or " BROKEN" in line or line.startswith("total"):
            print("        " + line[:160])
    if not os.path.exists(json_file):
        sys.exit("check: the probes did not finish: " + (done.stderr or done.stdout)[-400:])
    counts = {}
    with open(json_file, encoding="utf-8") as file:
        results = json.load(file)
    for one in results if isinstance(results, list) else results.get("results", []):
        verdict = one.get("verdict") or one.get("result")
        counts[verdict] = counts.get(verdict, 0) + 1
    print("        probes:", json.dumps(counts))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("image")
    parser.add_argument("--probes")
    parser.add_argument("--client", nargs=argparse.REMAINDER)
    options = parser.parse_args()
    name = "bawn-check-" + secrets.token_hex(4)
    token = secrets.token_hex(16)
    base = tempfile.mkdtemp(prefix="bawn-image-", dir="/var/tmp")
    os.chmod(base, 0o755)
    token_file = os.path.join(base, "token")
    with open(token_file, "w", encoding="utf-8") as file:
        file.write(token + "\n")
    os.chmod(token_file, 0o440)
    area = os.path.join(base, "area")
    workspace = os.path.join(area, "arena", "ws")
    os.makedirs(workspace)
    os.makedirs(os.path.join(area, "arena", "home"))
    if os.geteuid() == 0:
        os.chown(token_file, 0, 1000)
        for folder in (area, area + "/arena", area + "/arena/home", workspace):
            os.chown(folder, 1000, 1000)
    places, words = ["--volume", f"{workspace}:/workspace"], []
    if options.probes:
        # The same paths on both sides, so that the harness here can judge what was done there.
        places = ["--volume", f"{area}:{area}", "--env", f"HOME={area}/arena/home"]
        words = ["mcp", "--http=0.0.0.0:8888", "--token-file=/run/secrets/bawn/token",
                 "--workspace", workspace]
    try:
        started, answered = start(options.image, name, token_file, places, words)
        print(f"        started after {started:.2f} s, first answer after {answered:.2f} s")
        server = Server(ADDRESS, token)
        look(server, name)
        if options.probes:
            run_probes(options.probes, token_file, os.path.join(area, "arena"))
        if options.client:
            client = subprocess.run(options.client, check=False,
                                    env={**os.environ, "ADDRESS": ADDRESS, "TOKEN": token})
            check("the client's checks", client.returncode, lambda status: status == 0)
        began = time.monotonic()
        podman("stop", "--time", "10", name)
        check("it ends in order within 10 s", round(time.monotonic() - began, 2),
              lambda seconds: seconds < 10)
        code = podman("inspect", "--format", "{{.State.ExitCode}}", name).stdout.strip()
        check("exit status", code, lambda status: status in ("0", "143"))
    finally:
        podman("rm", "--force", "--volumes", "--time", "0", name, fails_too=True)
        shutil.rmtree(base, ignore_errors=True)
    return 1 if failures else 0


sys.exit(main())
