"""The token of the HTTP server: made once, for its owner's eyes alone."""

from __future__ import annotations

import stat

import pytest

from reflector.core.ambient import system
from reflector.core.errors import HomeError
from reflector.surface.mcp.token import token_at


def test_a_token_is_made_once_for_its_owner_alone(tmp_path):
    file = tmp_path / "mcp-token"
    made = token_at(file, system())
    assert len(made) == 64
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert token_at(file, system()) == made
    assert list(tmp_path.iterdir()) == [file]


def test_two_homes_have_two_tokens(tmp_path):
    assert token_at(tmp_path / "a", system()) != token_at(tmp_path / "b", system())


def test_a_token_of_the_persons_own_is_taken(tmp_path):
    file = tmp_path / "mine"
    file.touch(0o600)
    file.write_text("  correct-horse-battery\n")
    assert token_at(file, system()) == "correct-horse-battery"


@pytest.mark.parametrize("mode", [0o640, 0o604, 0o660, 0o620])
def test_a_file_that_others_may_read_or_write_is_refused(tmp_path, mode):
    file = tmp_path / "mine"
    file.write_text("correct-horse-battery\n")
    file.chmod(mode)
    with pytest.raises(HomeError) as caught:
        token_at(file, system())
    assert "correct-horse" not in caught.value.message + caught.value.hint


@pytest.mark.parametrize(
    "text", ["", "short", "two words of a token", "tökentökentöken", "x" * 501]
)
def test_a_file_without_a_token_is_refused(tmp_path, text):
    file = tmp_path / "mine"
    file.touch(0o600)
    file.write_text(text, "utf-8")
    with pytest.raises(HomeError):
        token_at(file, system())


def test_a_link_in_its_place_is_not_followed(tmp_path):
    target = tmp_path / "target"
    target.touch(0o600)
    target.write_text("correct-horse-battery\n")
    (tmp_path / "mine").symlink_to(target)
    with pytest.raises(HomeError):
        token_at(tmp_path / "mine", system())
    (tmp_path / "dangling").symlink_to(tmp_path / "nowhere")
    with pytest.raises(HomeError):
        token_at(tmp_path / "dangling", system())
    assert not (tmp_path / "nowhere").exists()


def test_a_place_that_cannot_be_written_is_an_error(tmp_path):
    with pytest.raises(HomeError):
        token_at(tmp_path / "no" / "such" / "folder", system())


def test_what_is_no_file_is_refused_in_its_own_words(tmp_path):
    (tmp_path / "target").write_text("correct-horse-battery\n")
    (tmp_path / "link").symlink_to(tmp_path / "target")
    with pytest.raises(HomeError, match="is a link"):
        token_at(tmp_path / "link", system())
    with pytest.raises(HomeError, match="no regular file"):
        token_at(tmp_path, system())


def test_a_folder_that_is_not_there_is_named_and_not_made(tmp_path):
    with pytest.raises(HomeError, match="a folder that is not there") as caught:
        token_at(tmp_path / "away" / "token", system())
    assert str(tmp_path / "away") in caught.value.hint
    assert list(tmp_path.iterdir()) == []
