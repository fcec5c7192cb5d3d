"""What every test may rely on: the same examples, zone and rights wherever and whenever it runs."""

from __future__ import annotations

import importlib.util
import os
import sys
import time
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

DEEP = os.environ.get("REFLECTOR_TEST_DEEP") == "1"


def drawn() -> list[str]:
    """Return the examples of one property."""
    seen: list[str] = []

    @given(st.text())
    def each(text: str) -> None:
        seen.append(text)

    each()
    return seen


@pytest.mark.skipif(DEEP, reason="a deep run tries its luck")
def test_a_property_has_the_same_examples_whatever_was_imported_before(tmp_path, monkeypatch):
    first = drawn()
    constants = ", ".join(f'"a word of its own {number}"' for number in range(100))
    (tmp_path / "more_words.py").write_text(f"WORDS = ({constants})\n", "utf-8")
    spec = importlib.util.spec_from_file_location("more_words", tmp_path / "more_words.py")
    assert spec is not None
    monkeypatch.setitem(sys.modules, "more_words", importlib.util.module_from_spec(spec))
    assert drawn() == first


def test_the_zone_and_the_rights_of_new_files_are_nobodys_own(tmp_path: Path):
    assert (time.tzname[0], os.environ["TZ"], os.environ["LANG"]) == ("UTC", "UTC", "C.UTF-8")
    (tmp_path / "made").touch()
    assert (tmp_path / "made").stat().st_mode & 0o777 == 0o644
