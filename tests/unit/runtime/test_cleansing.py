"""What a child wrote itself keeps no secret, and stays what it was otherwise."""

from __future__ import annotations

import io
import json
import os
import subprocess
import sys

import pytest

from reflector.runtime import block_cache, log
from reflector.runtime.cleansing import cleanse
from reflector.runtime.compiled import Wanted, compile_block
from tests.support.cli import ROOT
from tests.support.scenes import Scene
from tests.support.secret_samples import ALNUM

TOKEN = "ghp" + "_" + ALNUM[:36]
MARK = "[REDACTED:github]"


def test_secrets_leave_files_and_names_and_everything_else_stays(tmp_path):
    deep = tmp_path / f"out-{TOKEN}" / "x"
    deep.mkdir(parents=True)
    (deep / f"{TOKEN}.txt").write_bytes(b"a \xff " + TOKEN.encode() + b"\r\n")
    (tmp_path / "plain.txt").write_bytes(b"plain \xff\r\n")
    before = (tmp_path / "plain.txt").stat()
    for _ in range(2):
        cleanse(tmp_path)
        file = tmp_path / f"out-{MARK}" / "x" / f"{MARK}.txt"
        assert file.read_bytes() == b"a \xff " + MARK.encode() + b"\r\n"
    after = (tmp_path / "plain.txt").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)


def test_a_json_object_stays_one(tmp_path):
    begin, end = (f"-----{word} PRIVATE" + " KEY-----" for word in ("BEGIN", "END"))
    body = {"a": f"{begin} {ALNUM * 3}", "b": [1, {"c": f"{end} {TOKEN}"}]}
    place = tmp_path / "result.json"
    place.write_text(json.dumps(body), "utf-8")
    place.chmod(0o640)
    cleanse(tmp_path)
    assert json.loads(place.read_text("utf-8"))["b"] == [1, {"c": f"{end} {MARK}"}]
    assert ALNUM not in place.read_text("utf-8")
    assert place.stat().st_mode & 0o777 == 0o640


def test_links_and_pipes_are_not_followed(tmp_path):
    outside = tmp_path / "outside.txt"
    outside.write_text(TOKEN, "utf-8")
    folder = tmp_path / "run"
    folder.mkdir()
    (folder / "link").symlink_to(outside)
    os.mkfifo(folder / "pipe")
    cleanse(folder)
    assert outside.read_text("utf-8") == TOKEN
    assert (folder / "link").is_symlink()


def test_a_folder_that_is_not_there_is_nothing(tmp_path):
    cleanse(tmp_path / "nowhere")


def test_a_log_line_holds_no_secret():
    stream = io.StringIO()
    log._logger(stream).warning(log.CLEANUP_FAILED, error=f"fatal: {TOKEN}", run="r", n=3)
    line = json.loads(stream.getvalue())
    assert (line["error"], line["run"], line["n"]) == (f"fatal: {MARK}", "r", 3)


def test_an_uncaught_error_says_itself_without_secrets():
    script = (
        "from reflector.runtime.tracebacks import clean_tracebacks; clean_tracebacks(); "
        f"raise RuntimeError('it broke over {TOKEN}')"
    )
    command = [
        sys.executable,
        "-I",
        "-c",
        f"import sys; sys.path.insert(0, {str(ROOT)!r}); {script}",
    ]
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    assert done.returncode == 1
    assert f"RuntimeError: it broke over {MARK}" in done.stderr
    assert TOKEN not in done.stderr


@pytest.mark.parametrize("kind", ["github", "field"])
def test_the_marker_of_a_rule_is_no_secret(tmp_path, kind):
    (tmp_path / "a").write_text(f"token=[REDACTED:{kind}]", "utf-8")
    cleanse(tmp_path)
    assert (tmp_path / "a").read_text("utf-8") == f"token=[REDACTED:{kind}]"


def test_no_block_is_cached_under_a_name_that_holds_a_secret(tmp_path):
    found = Scene(tmp_path).context()
    for name, kept in ((TOKEN, 0), ("plain", 1)):
        start = tmp_path / name
        start.mkdir()
        revision, block = compile_block(found, Wanted(start, by_hook=True))
        block_cache.save(found, start, block_cache.stamped(found, start), revision, block)
        assert len(list((found.agent.path / "blocks").glob("%2F*"))) == kept
