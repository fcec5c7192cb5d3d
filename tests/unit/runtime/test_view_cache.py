"""A commit costs only what it changed, and nothing that was kept is ever trusted blindly."""

from __future__ import annotations

import pytest

from reflector.core.errors import GitError
from reflector.memory import document as document_text
from reflector.memory import view
from reflector.runtime import birth, view_cache
from reflector.runtime.view_cache import viewed
from reflector.runtime.wiring import Context, context
from tests.support.repos import Repo


def document(text: str, description: str = "about it") -> str:
    return f"---\ndescription: {description}\n---\n{text}\n"


@pytest.fixture
def found(tmp_path) -> Context:
    made = context(str(tmp_path / "home"))
    birth.init(made)
    Repo(made.agent.repo).commit(
        {f"reference/{number}.md": document(str(number)) for number in range(9)}
    )
    return made


@pytest.fixture
def parsed(monkeypatch) -> list[str]:
    paths: list[str] = []
    parse = document_text.parse

    def counting(path: str, raw: bytes):
        paths.append(path)
        return parse(path, raw)

    monkeypatch.setattr(view, "parse", counting)
    return paths


def anew(found: Context) -> view_cache.Viewed:
    view_cache.drop(found)
    return viewed(found)


def same(one: view_cache.Viewed, other: view_cache.Viewed) -> bool:
    return (one.commit, one.tree, dict(one.gists)) == (other.commit, other.tree, dict(other.gists))


def test_after_a_commit_only_what_it_changed_is_read(found, parsed):
    first = viewed(found)
    assert len(parsed) == len(first.gists) > 9
    repo = Repo(found.agent.repo)
    parsed.clear()
    assert same(viewed(found), first)
    assert parsed == []
    repo.git("rm", "-q", "reference/0.md")
    repo.git("mv", "reference/1.md", "reference/one.md")
    repo.commit({"reference/2.md": document("2", "changed"), "facts/new.md": document("new")})
    second = viewed(found)
    assert sorted(parsed) == ["facts/new.md", "reference/2.md", "reference/one.md"]
    assert same(second, anew(found))
    assert "reference/0.md" not in second.gists


def test_odd_names_and_texts_come_back_as_they_were(found):
    repo, odd = Repo(found.agent.repo), 'reference/a "b"\t\\c\n密.md'
    repo.commit(
        {odd: document("x", "'says \"密\" \\ 🙂'"), "system/x.md": document("a\n\tb\u2028c")}
    )
    first = viewed(found)
    assert first.gists[odd] == ('says "密" \\ 🙂', "")
    assert first.gists["system/x.md"] == ("about it", "a\n\tb\u2028c\n")
    assert same(viewed(found), first)
    assert "says" in (found.agent.path / "blocks" / "view").read_text("utf-8")


def test_an_unreadable_version_of_a_document_takes_its_old_one_away(found):
    assert "reference/3.md" in viewed(found).gists
    Repo(found.agent.repo).commit({"reference/3.md": "no header\n"})
    assert "reference/3.md" not in viewed(found).gists


@pytest.mark.parametrize(
    "spoil",
    [
        lambda raw: raw[:0],
        lambda raw: raw[:-20],
        lambda raw: raw.replace(b"about it", b"about us", 1),
        lambda raw: b"reflector-view 0" + raw[16:],
        lambda raw: b"\xff" + raw,
        lambda raw: signed(raw[:0]),
        lambda raw: signed(raw[:0] + b"one word"),
        lambda raw: signed(raw[:0] + b"1 2\nno line of ours"),
        lambda raw: signed(raw[:0] + b"1 2\n\xff\t[]"),
    ],
)
def test_what_was_torn_or_written_by_another_version_is_made_again(found, parsed, spoil):
    first = viewed(found)
    file = found.agent.path / "blocks" / "view"
    file.write_bytes(spoil(file.read_bytes()))
    parsed.clear()
    assert same(viewed(found), first)
    assert len(parsed) == len(first.gists)
    parsed.clear()
    viewed(found)
    assert parsed == []


def signed(body: bytes) -> bytes:
    return view_cache._head(body) + b"\n" + body


def test_a_tree_that_git_has_thrown_away_is_no_obstacle(found):
    first = viewed(found)
    file = found.agent.path / "blocks" / "view"
    _, _, rows = file.read_bytes().split(b"\n", 2)
    file.write_bytes(signed(b"1" * 40 + b" " + b"2" * 40 + b"\n" + rows))
    assert same(viewed(found), first)


def test_a_place_that_cannot_be_written_costs_speed_alone(found):
    folder = found.agent.path / "blocks"
    folder.write_bytes(b"in the way")
    assert len(viewed(found).gists) > 9


def test_a_link_in_place_of_the_file_is_not_followed(found, tmp_path):
    viewed(found)
    file = found.agent.path / "blocks" / "view"
    file.rename(tmp_path / "elsewhere")
    file.symlink_to(tmp_path / "elsewhere")
    before = (tmp_path / "elsewhere").read_bytes()
    Repo(found.agent.repo).commit({"reference/3.md": document("more")})
    viewed(found)
    assert (tmp_path / "elsewhere").read_bytes() == before


def test_a_memory_without_a_commit_is_named(found):
    (found.agent.repo / ".git" / "refs" / "heads" / "main").unlink()
    with pytest.raises(GitError, match="no commit on main"):
        viewed(found)
