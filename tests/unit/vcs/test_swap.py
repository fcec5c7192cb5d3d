"""Files exchanged under the hands of a person who saves at the worst moment."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from reflector.vcs import swap as swapping
from reflector.vcs.swap import Swap, read_all

OLD: dict[str, bytes | None] = {"a": b"old a", "d/b": b"old b", "gone/c": b"old c", "new": None}
NEW = {"a": b"new a", "d/b": b"new b", "new": b"new n"}


@pytest.fixture(params=[True, False], ids=["exchange", "no exchange"])
def root(request: pytest.FixtureRequest, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    if not request.param:
        monkeypatch.setattr(swapping, "exchange", lambda *_: False)
    for folder, files in ((tmp_path / "root", OLD), (tmp_path / "beside" / "new", NEW)):
        for path, content in files.items():
            if content is not None:
                (folder / path).parent.mkdir(parents=True, exist_ok=True)
                (folder / path).write_bytes(content)
    return tmp_path / "root"


def swap(root: Path) -> Swap:
    return Swap(root, root.parent / "beside", OLD)


def everything(root: Path) -> dict[str, bytes]:
    found = [place for place in root.rglob("*") if place.is_file()]
    return {place.relative_to(root).as_posix(): place.read_bytes() for place in found}


UNTOUCHED = {path: content for path, content in OLD.items() if content is not None}


def test_all_files_are_exchanged_and_emptied_folders_go(root):
    exchange = swap(root)
    assert exchange.do() == ()
    assert exchange.late() == ()
    assert everything(root) == NEW
    assert not (root / "gone").exists()


def test_what_is_taken_back_is_as_it_was(root):
    exchange = swap(root)
    assert exchange.do() == ()
    exchange.back()
    assert everything(root) == UNTOUCHED


@pytest.mark.parametrize("path", ["a", "d/b", "gone/c"])
def test_a_file_that_was_written_to_is_in_the_way_and_all_is_taken_back(root, path):
    (root / path).write_bytes(b"mine")
    assert swap(root).do() == (path,)
    assert everything(root) == UNTOUCHED | {path: b"mine"}


def test_a_file_that_an_editor_replaced_is_in_the_way(root):
    (root / "other").write_bytes(b"mine")
    (root / "other").replace(root / "a")
    assert swap(root).do() == ("a",)
    assert everything(root) == UNTOUCHED | {"a": b"mine"}


def test_a_file_that_an_editor_made_is_in_the_way(root):
    (root / "new").write_bytes(b"mine too")
    assert swap(root).do() == ("new",)
    assert everything(root) == UNTOUCHED | {"new": b"mine too"}


def test_a_file_that_is_gone_stays_gone(root):
    (root / "a").unlink()
    assert swap(root).do() == ("a",)
    assert "a" not in everything(root)


def test_a_write_into_a_file_that_was_open_is_seen_and_comes_back_under_its_name(root):
    with (root / "a").open("ab", buffering=0) as editor:
        exchange = swap(root)
        assert exchange.do() == ()
        editor.write(b", mine")
        assert exchange.late() == ("a",)
        exchange.back()
        editor.write(b", still mine")
    assert everything(root) == UNTOUCHED | {"a": b"old a, mine, still mine"}


def test_a_file_made_in_the_moment_between_stays(root, monkeypatch):
    monkeypatch.setattr(swapping, "exchange", lambda *_: False)
    link = os.link

    def late_editor(source: Path, target: Path, **named: bool) -> None:
        if target == root / "a" and not target.exists():
            target.write_bytes(b"mine")
        link(source, target, **named)

    monkeypatch.setattr(os, "link", late_editor)
    assert swap(root).do() == ("a",)
    assert everything(root) == UNTOUCHED | {"a": b"mine"}


def test_a_change_of_a_new_file_survives_the_way_back(root):
    exchange = swap(root)
    assert exchange.do() == ()
    (root / "new").write_bytes(b"new n, mine")
    exchange.back()
    assert everything(root) == UNTOUCHED | {"new": b"new n, mine"}


def test_nothing_is_written_through_a_link_that_leads_out(root):
    outside = root.parent / "outside"
    outside.mkdir()
    (root / "away").symlink_to(outside)
    fresh = root.parent / "beside" / "new" / "away" / "x"
    fresh.parent.mkdir()
    fresh.write_bytes(b"secret")
    assert Swap(root, root.parent / "beside", OLD | {"away/x": None}).do() == ("away/x",)
    assert list(outside.iterdir()) == []
    assert everything(root) == UNTOUCHED


def test_links_and_folders_count_as_no_file(root):
    (root / "link").symlink_to(root / "a")
    assert read_all(root, ["link", "d", "a", "none"]) == {
        "link": None,
        "d": None,
        "a": b"old a",
        "none": None,
    }
