"""`reflector recall` and `reflector search`, as a person and a machine run them."""

from __future__ import annotations

import json

import pytest

from tests.support.cli import EXAMPLE, Cli, git

pytestmark = pytest.mark.slow

KINDS = {"user", "assistant", "tool_call", "error"}
HOSTILE = ('" alpha* NEAR( @name 🚀', "x" * 90_000)


@pytest.fixture(scope="module")
def cli(tmp_path_factory) -> Cli:
    """A home with a memory that a person wrote in, and a journal."""
    made = Cli(tmp_path_factory.mktemp("recalled") / "home")
    assert made("init").code == 0
    assert made("ingest", EXAMPLE).code == 0
    place = made.repo / "reference" / "deploy.md"
    place.write_text(
        "---\ndescription: How we deploy\n---\n# 发布\n周五下午不发布。\x1b[2J\n", "utf-8"
    )
    git(made.repo, "add", "-A")
    git(made.repo, "commit", "-q", "-m", "by hand")
    return made


def test_a_document_is_recalled_for_people_and_for_machines(cli):
    told = cli("recall", "周五发布")
    assert (told.code, told.err) == (0, "")
    assert told.out.startswith("reference/deploy.md  How we deploy\n  周五下午不发布。")
    assert "\x1b" not in told.out
    (found,) = cli("recall", "周五", "发布", "--json", "--limit", "3").json["results"]
    assert list(found) == [
        *("path", "id", "layer", "status", "score", "excerpt", "updated_at", "why", "age_days")
    ]
    assert found["why"] == "heading: 发布; text: 周五, 发布"
    words = ("recall", "deploy", "--json", "--path", "reference/")
    assert cli(*words, "--since", "2999-01-01").json == {"results": []}
    assert cli(*words, "--since", "7d").json["results"]


def test_filters_details_and_what_was_superseded_are_options(cli):
    facts = cli.repo / "facts" / "2026-11"
    facts.mkdir(parents=True)
    text = "---\ndescription: Port of the gateway\nstatus: {}\nbranch: fix/port\n---\nIt is {}.\n"
    (facts / "old-00000001.md").write_text(text.format("superseded", 80))
    new = text.format("active", 8443) + "\n## Details\n\nlisten\x1b[2J 8443;\n"
    (facts / "new-00000002.md").write_text(new)
    git(cli.repo, "add", "-A")
    git(cli.repo, "commit", "-q", "-m", "facts")

    def ids(*words: str) -> set[str]:
        found = cli("recall", "gateway", "port", "--layer", "facts", "--json", *words)
        return {each["id"] for each in found.json["results"]}

    assert ids() == {"00000002"}
    assert ids("--all") == {"00000001", "00000002"}
    assert ids("--status", "superseded") == {"00000001"}
    assert ids("--branch", "fix/port", "--until", "2999-01-01") == {"00000002"}
    assert ids("--branch", "main") == ids("--until", "2000-01-01") == ids("--project", "x") == set()
    told = cli("recall", "gateway", "--layer", "facts", "--details", "--all")
    assert told.code == 0
    assert "  | listen" in told.out
    assert "superseded" in told.out
    assert "\x1b" not in told.out
    assert (cli("recall").code, cli("recall", "x", "--layer", "fact").code) == (2, 2)


def test_what_was_said_and_done_is_searched(cli):
    found = cli("search", "make test", "--json").json["results"]
    assert {each["kind"] for each in found} <= KINDS
    assert list(found[0]) == [
        *("conversation", "entry", "kind", "score", "excerpt", "updated_at", "why")
    ]
    said = cli("search", "make test", "--kind", "user", "--conversation", found[0]["conversation"])
    assert said.code == 0
    assert all("(user)" in line for line in said.out.split("\n") if "claude-code:" in line)
    missing = cli("search", "make", "--conversation", "none/such", "--json")
    assert (missing.code, missing.json["error"]["code"]) == (1, "not_found")


def test_nothing_found_is_no_error(cli):
    for command in ("recall", "search"):
        done = cli(command, "zzzyx")
        assert (done.code, done.out) == (0, "Nothing was found.\n")


def test_no_query_is_an_error(cli):
    for query in HOSTILE:
        done = cli("recall", "--json", query)
        assert (done.code, list(done.json)) == (0, ["results"]), done.out
    assert cli("recall", "x", "--since", "yesterday").code == 2


def test_many_at_once_find_the_same_on_an_index_that_nobody_made(cli):
    (agent,) = (cli.home / "agents").iterdir()
    for name in ("recall.db", "search.db"):
        (agent / name).unlink(missing_ok=True)
    started = [cli.start("recall", "发布", "--json") for _ in range(3)]
    results = [process.communicate(timeout=60)[0] for process in started]
    paths = [[each["path"] for each in json.loads(result)["results"]] for result in results]
    assert paths == [["reference/deploy.md"]] * 3


def test_the_block_of_a_query_has_what_it_recalls(cli):
    block = cli("prompt", "--query", "发布").out
    assert "<recalled>\n- reference/deploy.md: How we deploy | 周五下午不发布。" in block
