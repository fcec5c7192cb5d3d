"""A change of the memory is judged, committed and brought to the files, or nothing happened at all."""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path

import pytest

from reflector.core.errors import DocumentError, ParentDirtyError, PathError, UsageError
from reflector.memory.tools import create, delete, rename, str_replace, update_description
from reflector.memory.tree import Tree
from reflector.runtime.writing import Change, NoChangeError, Written, write
from tests.support.clocks import WHEN
from tests.support.deaths import dying_at
from tests.support.repos import Repo
from tests.support.scenes import Scene

SECRET = "ghp_" + "A1b2C3d4E5" * 4
LOCKED = '---\ndescription: x\nread_only: "true"\n---\nkept\n'
STEPS = ("planned", "locked", "checked", "saved", "moved", "followed")


@pytest.fixture
def scene(tmp_path: Path) -> Scene:
    return Scene(tmp_path)


@pytest.fixture
def repo(scene: Scene) -> Repo:
    return Repo(scene.repo)


def made(tree: Tree, path: str = "reference/x", text: str = "a line") -> Mapping[str, bytes | None]:
    return create(tree, path, text, "a description")


def unchanged(repo: Repo, before: Mapping[str, bytes]) -> None:
    assert repo.everything() == before
    assert not (repo.path / ".git/index.lock").exists()


def test_a_change_is_one_commit_whose_subject_is_the_reason(scene, repo):
    base = repo.sha()
    done = write(scene.context(), made, "because of tests", conversation="claude-code:4f1c")
    assert done == Written(repo.sha("main"), ("reference/x.md",))
    assert repo.git("log", "-1", "--format=%P") == base
    message = repo.git("log", "-1", "--format=%B").split("\n")
    assert message[:2] == ["because of tests", ""]
    assert {"Memory-Writer: person", "Conversation: claude-code:4f1c"} <= set(message)
    assert (repo.path / "reference/x.md").read_text().endswith("\na line\n")
    assert repo.status() == ""
    repo.assert_sound()


def test_the_cached_block_is_that_of_the_new_commit(scene):
    done = write(scene.context(), made, "a reason")
    assert done.commit in (scene.context().agent.path / "block").read_text().split("\n\n")[0]


def test_a_secret_in_the_reason_is_not_committed(scene, repo):
    write(scene.context(), made, f"use {SECRET}")
    assert SECRET not in repo.git("log", "-1", "--format=%B")


@pytest.mark.parametrize(
    "reason", ["", " ", "two\nlines", "a\x1b[2J", "x" * 501, "Reflector-Run: 20261130T120000-0"]
)
def test_a_reason_is_one_plain_line(scene, repo, reason):
    before = repo.everything()
    with pytest.raises(UsageError):
        write(scene.context(), made, reason)
    unchanged(repo, before)


def test_a_conversation_cannot_bring_a_trailer_of_its_own(scene):
    with pytest.raises(UsageError):
        write(scene.context(), made, "a reason", conversation="x\nReflector-Run: y")


def test_a_change_that_changes_nothing_is_an_error_and_no_commit(scene, repo):
    write(scene.context(), made, "a reason")
    before = repo.everything()
    with pytest.raises(NoChangeError):
        write(scene.context(), lambda t: update_description(t, "reference/x", "a description"), "r")
    unchanged(repo, before)


# What is refused


@pytest.mark.parametrize("writer", ["person", "agent"])
@pytest.mark.parametrize(
    ("path", "raw", "code", "line"),
    [
        ("reference/x.md", f"---\ndescription: x\n---\n\nkey {SECRET}\n", "secret", 5),
        ("reference/x.md", "---\ndescription: a: b\n---\n", "header_not_yaml", 2),
        ("elsewhere/x.md", "---\ndescription: x\n---\n", "outside_layout", 0),
        ("../x.md", "x", "path_escapes", 0),
        ("reference/.git/x.md", "---\ndescription: x\n---\n", "path_git_name", 0),
    ],
)
def test_what_the_validator_refuses_is_named_and_leaves_no_trace(
    scene, repo, writer, path, raw, code, line
):
    before = repo.everything()
    objects = repo.git("count-objects")
    with pytest.raises(DocumentError) as error:
        write(scene.context(), lambda _: {path: raw.encode()}, "a reason", writer=writer)
    assert (error.value.facts["code"], error.value.facts["line"]) == (code, line)
    assert error.value.hint
    assert SECRET not in error.value.message
    unchanged(repo, before)
    assert repo.git("count-objects") == objects


PROTECTED: dict[str, Change] = {
    "boundaries_changed": lambda _: {"system/boundaries.md": b"---\ndescription: x\n---\nnew\n"},
    "read_only_changed": lambda t: str_replace(t, "reference/locked", "kept\n", "other\n"),
    "read_only_removed": lambda t: delete(t, "reference/locked"),
    "persona_removed": lambda t: delete(t, "system/persona"),
    "seed_changed": lambda _: {".gitignore": b"*\n"},
}


@pytest.mark.parametrize("code", PROTECTED)
def test_an_agent_keeps_off_what_is_protected_while_a_person_may(scene, repo, code):
    persona = (repo.path / "system/persona.md").read_text().replace("<!-- reflector: seed -->", "")
    repo.commit({"reference/locked.md": LOCKED, "system/persona.md": persona})
    before = repo.everything()
    with pytest.raises(DocumentError) as error:
        write(scene.context(), PROTECTED[code], "a reason", writer="agent")
    assert error.value.facts["code"] == code
    unchanged(repo, before)
    assert write(scene.context(), PROTECTED[code], "a reason").commit == repo.sha()


def test_an_agent_may_delete_what_it_was_told_to_and_hears_of_broken_links(scene, repo):
    repo.commit(
        {
            "reference/old.md": "---\ndescription: x\n---\n" + "a line\n" * 20,
            "reference/points.md": "---\ndescription: x\n---\nsee [[reference/old.md]]\n",
        }
    )
    done = write(
        scene.context(), lambda t: rename(t, "reference/old", "facts/new"), "moved", writer="agent"
    )
    assert [(each.path, each.line) for each in done.warnings] == [("reference/points.md", 4)]
    gone = write(scene.context(), lambda t: delete(t, "facts/new"), "not needed", writer="agent")
    assert gone.paths == ("facts/new.md",)


def test_an_agent_keeps_the_system_tier_within_its_share(scene, repo):
    long = "a line of many words\n" * 400
    before = repo.everything()
    with pytest.raises(DocumentError) as error:
        write(scene.context(), lambda t: made(t, "system/x", long), "a reason", writer="agent")
    assert error.value.facts["code"] == "system_over_budget"
    assert repo.everything() == before
    done = write(scene.context(), lambda t: made(t, "reference/x", long), "r", writer="agent")
    assert done.paths == ("reference/x.md",)


# A person's work


def test_uncommitted_work_on_other_paths_stays_as_it_is(scene, repo):
    repo.write({"system/human.md": "mine\n", "own.txt": "mine\n"})
    write(scene.context(), made, "a reason")
    assert repo.status() == " M system/human.md\n?? own.txt"
    assert (repo.path / "system/human.md").read_text() == "mine\n"


def test_fresh_work_on_the_path_itself_refuses_and_stays(scene, repo):
    repo.write({"system/human.md": "mine\n"})
    before = repo.everything()
    with pytest.raises(ParentDirtyError) as error:
        write(scene.context(), lambda t: update_description(t, "system/human", "new"), "a reason")
    assert "system/human.md" in error.value.message
    assert "memory commit" in error.value.hint
    unchanged(repo, before)


def test_quiet_work_on_the_path_is_committed_first_and_then_changed(scene, repo):
    write(scene.context(), made, "a reason")
    place = repo.path / "reference/x.md"
    place.write_text(place.read_text().replace("a line", "by hand"))
    os.utime(place, (WHEN.timestamp() - 61,) * 2)
    write(scene.context(), lambda t: str_replace(t, "reference/x", "by hand", "by tool"), "r")
    assert repo.git("log", "-3", "--format=%s") == "r\nedit reference/x.md\na reason"
    assert "by hand" in repo.git("show", "HEAD^:reference/x.md")
    assert place.read_text().endswith("by tool\n")


def test_a_commit_of_a_person_in_between_is_built_upon(scene, repo):
    calls = []

    def change(tree: Tree) -> Mapping[str, bytes | None]:
        calls.append(tree.oid)
        if len(calls) == 1:
            repo.commit({"reference/p.md": "---\ndescription: by a person\n---\n"})
        return made(tree)

    done = write(scene.context(), change, "a reason")
    assert len(calls) == 2
    assert repo.git("log", "-2", "--format=%s") == "a reason\na person's commit"
    assert done.paths == ("reference/x.md",)
    assert repo.status() == ""


def test_a_change_is_not_written_while_the_repository_is_on_another_branch(scene, repo):
    repo.git("switch", "-q", "-c", "other")
    with pytest.raises(ParentDirtyError, match="not on main") as error:
        write(scene.context(), made, "a reason")
    # `memory commit` would be refused for the same reason, and send the person back here.
    assert "memory commit" not in error.value.hint
    assert "reflector doctor" in error.value.hint
    assert repo.git("rev-parse", "main") == repo.git("rev-parse", "other")


@pytest.mark.skipif(os.geteuid() == 0, reason="root may write everywhere")
def test_a_folder_that_cannot_be_written_to_sends_nobody_to_commit_edits(scene, repo):
    repo.commit({"reference/a.md": "---\ndescription: a\n---\n"})
    (repo.path / "reference").chmod(0o500)
    try:
        with pytest.raises(ParentDirtyError, match="Permission denied") as error:
            write(scene.context(), made, "a reason")
    finally:
        (repo.path / "reference").chmod(0o700)
    assert "belongs to you" in error.value.hint
    assert "memory commit" not in error.value.hint


# Links (F141 to F143)


def test_a_link_on_the_way_is_refused_and_nothing_is_written_through_it(scene, repo, tmp_path):
    outside = tmp_path / "outside"
    outside.mkdir()
    (repo.path / "facts").symlink_to(outside)
    before = repo.everything()
    with pytest.raises(PathError) as error:
        write(scene.context(), lambda t: made(t, "facts/x"), "a reason")
    assert error.value.facts["code"] == "symlink"
    assert list(outside.iterdir()) == []
    unchanged(repo, before)


def test_a_home_behind_a_link_is_written_to_like_any_other(scene, repo, tmp_path):
    link = tmp_path / "link"
    link.symlink_to(scene.home)
    scene.home = link
    done = write(scene.context(), made, "a reason")
    assert repo.sha("main") == done.commit
    assert (repo.path / "reference/x.md").exists()


# Deaths


@pytest.mark.parametrize("step", STEPS)
def test_whoever_writes_next_mends_what_a_killed_write_left(scene, repo, step):
    dying_at(step, lambda: write(scene.context(), made, "a reason"))
    scene.chance.drawn = 100
    write(scene.context(), lambda t: made(t, "facts/y"), "the next")
    landed = step in STEPS[4:]
    wanted = ["the next", "a reason"] if landed else ["the next"]
    assert repo.git("log", f"-{len(wanted)}", "--format=%s").split("\n") == wanted
    assert (repo.path / "reference/x.md").exists() == landed
    assert repo.status() == ""
    assert [f.name for f in (repo.path / ".git").iterdir() if "reflector" in f.name] == []
    repo.assert_sound()
