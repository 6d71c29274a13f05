#!/usr/bin/env python3
"""Makes the mcpb bundle: the manifest beside it, `bawn` and `bawn-warden`.

usage: bundle.py PROGRAMS OUT.mcpb; PROGRAMS is the folder of the built programs. Prints the bundle's
SHA-256, which the registry wants (`fileSha256`). The same programs give the same bundle.
"""
import hashlib
import pathlib
import sys
import zipfile

HERE = pathlib.Path(__file__).parent
PROGRAMS = ("bawn", "bawn-warden")
FIRST_DATE = (1980, 1, 1, 0, 0, 0)  # zip knows none before


def add(bundle, name, content, mode):
    entry = zipfile.ZipInfo(name, FIRST_DATE)
    entry.create_system = 3  # Unix: the mode counts
    entry.external_attr = (0o100000 | mode) << 16
    entry.compress_type = zipfile.ZIP_DEFLATED
    bundle.writestr(entry, content)


def main():
    programs, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    with zipfile.ZipFile(out, "w", compresslevel=1) as bundle:
        add(bundle, "manifest.json", (HERE / "manifest.json").read_bytes(), 0o644)
        for name in PROGRAMS:
            add(bundle, f"server/{name}", (programs / name).read_bytes(), 0o755)
    print(hashlib.sha256(out.read_bytes()).hexdigest())


main()
