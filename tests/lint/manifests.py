#!/usr/bin/env python3
"""The Kubernetes manifests and the Dockerfile: what must hold for every way to run the image.

Usage: manifests.py ROOT [CRD_FOLDER]. With a folder of CustomResourceDefinitions the custom objects are
checked against their schemas as well, and so is the plain pod.
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


def schemas_of(folder):
    """(apiVersion, kind) -> schema, from the CustomResourceDefinitions and what they contain: the template
    of a sandbox has the whole schema of a pod."""
    schemas = {}
    for path in sorted(folder.glob("*.yaml")):
        crd = yaml.safe_load(path.read_text())
        for version in crd["spec"]["versions"]:
            key = (f"{crd['spec']['group']}/{version['name']}", crd["spec"]["names"]["kind"])
            schemas[key] = version["schema"]["openAPIV3Schema"]
            spec = schemas[key]["properties"]["spec"]["properties"]
            if "podTemplate" in spec:
                pod = spec["podTemplate"]["properties"]["spec"]
                schemas[("v1", "Pod")] = {"type": "object", "properties": {"spec": pod}, "required": ["spec"]}
    for schema in schemas.values():
        for name, kind in (("metadata", "object"), ("apiVersion", "string"), ("kind", "string")):
            schema["properties"][name] = {"type": kind, "x-kubernetes-preserve-unknown-fields": True}
    return schemas


TYPES = {
    "object": lambda value: isinstance(value, dict),
    "array": lambda value: isinstance(value, list),
    "string": lambda value: isinstance(value, str),
    "boolean": lambda value: isinstance(value, bool),
    "integer": lambda value: isinstance(value, int) and not isinstance(value, bool),
    "number": lambda value: isinstance(value, (int, float)) and not isinstance(value, bool),
}


def value_faults(value, schema, where):
    """As an API server reads it: unknown fields are refused, int-or-string is either."""
    kinds = ["integer", "string"] if schema.get("x-kubernetes-int-or-string") else [schema.get("type")]
    if not any(kind is None or TYPES[kind](value) for kind in kinds):
        yield f"{where}: {value!r} is not of type {' or '.join(kinds)}"
        return
    if "enum" in schema and value not in schema["enum"]:
        yield f"{where}: {value!r} is none of {schema['enum']}"
    if "minimum" in schema and value < schema["minimum"]:
        yield f"{where}: {value} is less than {schema['minimum']}"
    if "maximum" in schema and value > schema["maximum"]:
        yield f"{where}: {value} is more than {schema['maximum']}"
    if "pattern" in schema and isinstance(value, str) and not re.search(schema["pattern"], value):
        yield f"{where}: {value!r} does not match {schema['pattern']}"
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from value_faults(item, schema.get("items", {}), f"{where}/{index}")
    if isinstance(value, dict):
        yield from member_faults(value, schema, where)


def member_faults(value, schema, where):
    properties = schema.get("properties", {})
    others = schema.get("additionalProperties")
    open_ended = schema.get("x-kubernetes-preserve-unknown-fields") or others is True or not schema
    for name in schema.get("required", ()):
        if name not in value:
            yield f"{where}: {name} is missing"
    for name, item in value.items():
        if name in properties:
            yield from value_faults(item, properties[name], f"{where}/{name}")
        elif isinstance(others, dict):
            yield from value_faults(item, others, f"{where}/{name}")
        elif not open_ended:
            yield f"{where}: there is no field {name}"


def schema_faults(root, folder):
    schemas = schemas_of(folder)
    checked = 0
    for path, document in documents(root):
        schema = schemas.get((document["apiVersion"], document["kind"]))
        if schema is not None:
            checked += 1
            yield from value_faults(document, schema, str(path))
            if document["kind"] in ("Pod", "SandboxTemplate"):
                yield from blind_spots(document, schema)
    if checked < 4:
        yield f"only {checked} objects have a schema in {folder}"


def blind_spots(document, schema):
    """What the schemas must catch; a check that lets it pass checks nothing."""
    spoilt = (
        ("readOnlyRootFilesystem", "readOnlyRootFileSystem", None),
        ("containerPort", "containerPort", "eight"),
        ("restartPolicy", "restartpolicy", None),
        ("name", "nome", None),
    )
    for field, new_field, new_value in spoilt:
        copy = spoil(document["spec"], field, new_field, new_value)
        if not list(value_faults(dict(document, spec=copy), schema, "")):
            yield f"{document['kind']}: a wrong {field} is not noticed"


def spoil(value, field, new_field, new_value):
    if isinstance(value, list):
        return [spoil(item, field, new_field, new_value) for item in value]
    if not isinstance(value, dict):
        return value
    return {
        new_field if name == field else name: new_value
        if name == field and new_value is not None
        else spoil(item, field, new_field, new_value)
        for name, item in value.items()
    }


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
