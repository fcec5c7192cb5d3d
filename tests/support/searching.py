"""A search through a home that imports nothing of the product: git, SQLite and bytes alone."""

from __future__ import annotations

import html
import json
import os
import sqlite3
import subprocess
from pathlib import Path


def forms(text: str) -> set[bytes]:
    """The ways in which a text may lie on disk."""
    json_forms = {json.dumps(text)[1:-1], json.dumps(text, ensure_ascii=False)[1:-1]}
    twice = {json.dumps(form)[1:-1] for form in json_forms}
    return {each.encode() for each in {text, html.escape(text), *json_forms, *twice}}


def in_objects(repo: Path, text: str) -> list[str]:
    """Ask git for every object, reachable or not, and look into it."""
    environ = {"PATH": os.environ["PATH"], "HOME": "/dev/null"}
    command = ["git", "-C", str(repo), "cat-file", "--batch-all-objects", "--batch"]
    raw = subprocess.run(command, env=environ, capture_output=True, check=True).stdout
    found, at = [], 0
    while at < len(raw):
        end = raw.index(b"\n", at)
        oid, kind, size = raw[at:end].split()
        body = raw[end + 1 : end + 1 + int(size)]
        if any(form in body for form in forms(text)):
            found.append(f"{kind.decode()} {oid.decode()}")
        at = end + int(size) + 2
    return found


def in_tables(home: Path, text: str) -> list[str]:
    """Read every row of every table of every database."""
    found = []
    for database in home.rglob("*.db"):
        connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
        names = connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'").fetchall()
        for (table,) in names:
            for row in connection.execute(f'SELECT * FROM "{table}"'):
                said = "\n".join(str(value) for value in row).encode()
                if any(form in said for form in forms(text)):
                    found.append(f"{database.name}: {table}")
        connection.close()
    return found


def in_files(home: Path, text: str) -> list[str]:
    """Read every byte of every file, and every name."""
    found = []
    for file in home.rglob("*"):
        named = str(file.relative_to(home)).encode()
        content = file.read_bytes() if file.is_file() and not file.is_symlink() else b""
        if any(form in content or form in named for form in forms(text)):
            found.append(str(file.relative_to(home)))
    return found


def everywhere(home: Path, text: str) -> list[str]:
    """Every place in a home where a text still is."""
    repos = [place.parent for place in home.rglob(".git") if place.is_dir()]
    return [
        *in_files(home, text),
        *in_tables(home, text),
        *(each for repo in repos for each in in_objects(repo, text)),
    ]
