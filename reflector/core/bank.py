"""Which bank a project's documents lie in: one name for all its clones, worktrees and folders."""

from __future__ import annotations

import hashlib
import re

_LONGEST = 40
_SECTION = re.compile(r'\[remote "((?:[^"\\]|\\.)*)"\]\s*(?:[#;].*)?\Z')
_URL = re.compile(r"url\s*=\s*(.*)\Z", re.IGNORECASE)
_SCHEME = re.compile(r"[a-z][a-z0-9+.-]*://", re.IGNORECASE)
_SCP = re.compile(r"(?:[^@/\s]+@)?([^:/\s]+):(?!//)(.+)\Z")


def bank_id(name: str, identity: str) -> str:
    """Return the folder name of a bank: a readable part, then 8 hex digits that keep it apart."""
    readable = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")[:_LONGEST].strip("-")
    digest = hashlib.sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:8]
    return f"{readable or 'project'}-{digest}"


def remote_of(config: str) -> str:
    """Return the URL of the remote that stands for a repository: `origin`, else the first by name.

    Reads the text of a git configuration as far as that needs; "" when there is none.
    """
    found: dict[str, str] = {}
    remote = ""
    for line in map(str.strip, config.splitlines()):
        if line.startswith("["):
            section = _SECTION.match(line)
            remote = section[1] if section else ""
        elif remote and (value := _URL.match(line)):
            found.setdefault(remote, value[1].strip().strip('"'))
    return found.get("origin") or (found[min(found)] if found else "")


def canonical(url: str) -> str:
    """Write a remote so that its ssh and https forms are equal, without user, password and port."""
    text = url.strip()
    if scheme := _SCHEME.match(text):
        host, _, path = text[scheme.end() :].partition("/")
        host = host.rpartition("@")[2]
        host = host.partition("]")[0] + "]" if host.startswith("[") else host.partition(":")[0]
    elif short := _SCP.match(text):
        host, path = short.groups()
    else:
        host, path = "", text  # a folder on this machine
    path = path.rstrip("/").removesuffix(".git").rstrip("/")
    return f"{host.lower()}/{path.lstrip('/')}" if host else path
