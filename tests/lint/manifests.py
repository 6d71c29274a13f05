#!/usr/bin/env python3
"""The Kubernetes manifests and the Dockerfile: what must hold for every way to run the image.

Usage: manifests.py ROOT [CRD_FOLDER]. With a folder of CustomResourceDefinitions the custom objects are
checked against their schemas as well (needs python3-jsonschema).
"""
import pathlib
import re
import sys

try:
    import yaml
except ImportError:
    print("skipped: no python3-yaml for this interpreter")
    sys.exit(77)


def documents(root):
    for path in sorted((root / "docker/kubernetes").rglob("*.yaml")):
        for document in yaml.safe_load_all(path.read_text()):
            yield path.relative_to(root), document


def pod_specs(root):
    for path, document in documents(root):
        if document["kind"] == "Pod":
            yield path, document["spec"]
        if document["kind"] == "SandboxTemplate":
            yield path, document["spec"]["podTemplate"]["spec"]


def hardening_faults(path, spec):
    """The `restricted` Pod Security Standard, and what bawn asks for beyond it."""
    pod = spec.get("securityContext", {})
    wanted = {"runAsNonRoot": True, "seccompProfile": {"type": "RuntimeDefault"}}
    for key, value in wanted.items():
        if pod.get(key) != value:
            yield f"{path}: pod securityContext.{key} is {pod.get(key)!r}, not {value!r}"
    for key in ("automountServiceAccountToken", "enableServiceLinks", "hostUsers"):
        if spec.get(key) is not False:
            yield f"{path}: {key} is not false"
    for container in spec["containers"]:
        context = container.get("securityContext", {})
        wanted = {
            "allowPrivilegeEscalation": False,
            "readOnlyRootFilesystem": True,
            "capabilities": {"drop": ["ALL"]},
        }
        for key, value in wanted.items():
            if context.get(key) != value:
                yield f"{path}: container {container['name']}: securityContext.{key} is {context.get(key)!r}"
        limits = container.get("resources", {}).get("limits", {})
        for key in ("cpu", "memory", "ephemeral-storage"):
            if key not in limits:
                yield f"{path}: container {container['name']}: no limit of {key}"
        mounts = {mount["name"] for mount in container["volumeMounts"]}
        volumes = {volume["name"] for volume in spec["volumes"]}
        if mounts != volumes:
            yield f"{path}: mounts {sorted(mounts)} are not the volumes {sorted(volumes)}"


def image_faults(root, specs):
    """The pods start what the image starts, on the port that it exposes."""
    text = (root / "docker/image/Dockerfile").read_text()
    command = re.findall(r'"([^"]*)"', re.search(r"^CMD (.*)$", text, re.M).group(1))
    port = int(re.search(r"^EXPOSE (\d+)$", text, re.M).group(1))
    if not re.search(r"^USER 1000:1000\s*\Z", text, re.M):
        yield "docker/image/Dockerfile: the last stage does not end as an ordinary user"
    for path, spec in specs:
        container = spec["containers"][0]
        if container["args"] != command:
            yield f"{path}: args {container['args']} differ from the image's CMD {command}"
        if [entry["containerPort"] for entry in container["ports"]] != [port]:
            yield f"{path}: containerPort is not the image's {port}"


def schema_faults(root, folder):
    import jsonschema

    schemas = {}
    for path in folder.glob("*.yaml"):
        crd = yaml.safe_load(path.read_text())
        for version in crd["spec"]["versions"]:
            key = (f"{crd['spec']['group']}/{version['name']}", crd["spec"]["names"]["kind"])
            schemas[key] = closed(version["schema"]["openAPIV3Schema"])
    for path, document in documents(root):
        schema = schemas.get((document["apiVersion"], document["kind"]))
        if schema is None:
            continue
        schema["properties"]["metadata"] = {"type": "object"}
        for fault in jsonschema.Draft7Validator(schema).iter_errors(document):
            yield f"{path}: {'/'.join(map(str, fault.path))}: {fault.message}"


def closed(schema):
    """As an API server reads it: unknown fields are refused, int-or-string is either."""
    if isinstance(schema, list):
        return [closed(item) for item in schema]
    if not isinstance(schema, dict):
        return schema
    result = {}
    for key, value in schema.items():
        if key == "properties":
            result[key] = {name: closed(item) for name, item in value.items()}
        else:
            result[key] = closed(value)
    if result.get("x-kubernetes-int-or-string"):
        result.pop("type", None)
        result["type"] = ["integer", "string"]
    open_ended = result.get("x-kubernetes-preserve-unknown-fields")
    if "properties" in result and "additionalProperties" not in result and not open_ended:
        result["additionalProperties"] = False
    return result


def main():
    root = pathlib.Path(sys.argv[1])
    specs = list(pod_specs(root))
    faults = [fault for path, spec in specs for fault in hardening_faults(path, spec)]
    faults += image_faults(root, specs)
    if len(specs) != 2 or specs[0][1] != specs[1][1]:
        faults.append("the plain pod and the template's pod differ")
    if len(sys.argv) > 2:
        faults += schema_faults(root, pathlib.Path(sys.argv[2]))
    for fault in faults:
        print(fault)
    print(f"{len(specs)} pod specs, {len(faults)} faults")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
