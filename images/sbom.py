"""Prints the packages of this image as a CycloneDX 1.5 document: Debian's, and those that pip and npm have installed beside them."""

import importlib.metadata
import json
import pathlib
import subprocess
import sys
import urllib.parse


def component(kind: str, name: str, version: str, **qualifiers: str) -> dict[str, str]:
    query = f"?{urllib.parse.urlencode(qualifiers)}" if qualifiers else ""
    quoted = urllib.parse.quote(name, safe="/")
    purl = f"pkg:{kind}/{quoted}@{urllib.parse.quote(version, safe='')}{query}"
    return {"type": "library", "bom-ref": purl, "name": name, "version": version, "purl": purl}


def debian() -> list[dict[str, str]]:
    form = "${db:Status-Status}\t${Package}\t${Version}\t${Architecture}\n"
    listed = subprocess.run(
        ["dpkg-query", "--show", f"--showformat={form}"], check=True, capture_output=True, text=True
    ).stdout
    rows = [line.split("\t") for line in listed.splitlines()]
    return [
        component("deb/debian", name, version, arch=architecture)
        for status, name, version, architecture in rows
        if status == "installed"
    ]


def pip() -> list[dict[str, str]]:
    """The packages that pip installed. Python packages of Debian are listed by `debian`."""
    places = [path for path in sys.path if "/local/lib/" in path]
    found = importlib.metadata.distributions(path=places)
    return [component("pypi", each.metadata["Name"].lower(), each.version) for each in found]


def npm() -> list[dict[str, str]]:
    manifests = [
        *pathlib.Path("/usr/local/lib/node_modules").glob("*/package.json"),
        *pathlib.Path("/usr/local/lib/node_modules").glob("@*/*/package.json"),
    ]
    found = [json.loads(path.read_text()) for path in manifests]
    return [component("npm", each["name"], each["version"]) for each in found]


json.dump(
    {
        "bomFormat": "CycloneDX",
        "specVersion": "1.5",
        "version": 1,
        "components": sorted([*debian(), *pip(), *npm()], key=lambda each: each["purl"]),
    },
    sys.stdout,
    indent=1,
)
