"""A harness tells its hook of a prompt, and the model is shown what the memory knows of it."""

from __future__ import annotations

import fcntl
from collections.abc import Iterator
from typing import Any

import pytest

from tests.support.cli import Cli, git
from tests.support.hooks import called, parsed, shown

pytestmark = pytest.mark.slow

PROMPT = "please rotate the signing keys"
TURN = {"cwd": "/", "prompt": PROMPT}
LINE = "- experiences/keys-0badcafe.md: Rotate the signing keys | Use keyctl, monthly."


@pytest.fixture(scope="module")
def cli(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Cli]:
    """A memory with one experience, where somebody drains already."""
    made = Cli(tmp_path_factory.mktemp("beside") / "home")
    assert made("init").code == 0
    place = made.repo / "experiences" / "keys-0badcafe.md"
    place.parent.mkdir(exist_ok=True)
    place.write_text("---\ndescription: Rotate the signing keys\n---\nUse keyctl, monthly.\n")
    git(made.repo, "add", "-A")
    git(made.repo, "commit", "-q", "-m", "by hand")
    switch(made, on=True)
    assert made("recall", "keys", "--json").json["results"][0]["id"] == "0badcafe"
    with (made.home / "locks" / "ingest.lock").open("wb") as stream:
        fcntl.flock(stream, fcntl.LOCK_EX)
        yield made


def switch(cli: Cli, *, on: bool) -> None:
    (cli.home / "config.toml").write_text(f"[recall]\ninject = {str(on).lower()}\n")
    assert cli("config").code == 0


def turn(cli: Cli, harness: str, event: str, session: str, **more: Any) -> bytes:
    done = called(cli.home, harness, event, {"session_id": session, **TURN, **more})
    assert (done.returncode, done.stderr) == (0, b"")
    return done.stdout


def test_each_harness_shows_it_in_its_form_and_never_twice_until_the_session_is_compacted(cli):
    for harness, event, compacts in (
        ("claude-code", "UserPromptSubmit", ("PreCompact", {})),
        ("codex", "UserPromptSubmit", ("SessionStart", {"source": "compact"})),
        ("gemini-cli", "BeforeAgent", ("PreCompress", {})),
    ):
        first = turn(cli, harness, event, f"{harness}-1")
        assert LINE in shown(first).split("\n")
        if harness == "codex":
            assert parsed(first) is None
        else:
            found = parsed(first) or {}
            assert found["hookSpecificOutput"]["hookEventName"] == event
        nothing = b"{}\n" if harness == "gemini-cli" else b""
        assert turn(cli, harness, event, f"{harness}-1") == nothing
        turn(cli, harness, compacts[0], f"{harness}-1", **compacts[1])
        assert LINE in shown(turn(cli, harness, event, f"{harness}-1"))


def test_nothing_is_shown_while_it_is_off_or_where_nobody_knows_what_was_shown(cli):
    for session in ("", "../../x", "a b", "é", "x" * 101):
        assert turn(cli, "claude-code", "UserPromptSubmit", session) == b""
    assert turn(cli, "opencode", "chat.message", "s-1") == b""
    switch(cli, on=False)
    try:
        assert turn(cli, "claude-code", "UserPromptSubmit", "s-1") == b""
    finally:
        switch(cli, on=True)
    assert shown(turn(cli, "claude-code", "UserPromptSubmit", "s-1"))
