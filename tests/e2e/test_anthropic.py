"""Reflection by a model: the real command, the real SDK, a scripted server on loopback."""

from __future__ import annotations

import pytest

from tests.support.cli import Cli, git
from tests.support.messages_server import Reply, Script, calls, fails, says, serving
from tests.support.transcripts import conversation

pytestmark = pytest.mark.slow

KEY = "sk-ant-api03-" + "k" * 95
REPORT = "Summary: one preference."
END = calls(("finish", {"report": REPORT}))
LINE = "- Runs tests with pytest, never with unittest. (2026-11-30)"


def learns(
    path: str = "system/human.md", line: str = LINE, evidence: str = "$ENTRY1"
) -> list[Reply]:
    marks = [evidence] if evidence else []
    return [
        calls(("read", {"path": path})),
        calls(("insert", {"path": path, "after_line": 3, "text": line}), ("diff", {})),
        calls(
            (
                "commit",
                {
                    "type": "feat",
                    "summary": "prefers pytest",
                    "updates": [{"text": f"{path}: prefers pytest", "evidence": marks}],
                },
            )
        ),
        END,
    ]


@pytest.fixture
def cli(born):
    return born(ANTHROPIC_API_KEY=KEY)


def reflect(cli: Cli, *replies: Reply, **settings: str):
    talk = conversation(cli.home.parent / "talk.jsonl", "I prefer pytest.", "Noted.")
    script = Script(replies)
    with serving(script) as url:
        lines = {"name": "anthropic", "base_url": url, **settings}
        text = "[engine]\n" + "".join(f'{name} = "{value}"\n' for name, value in lines.items())
        (cli.home / "config.toml").write_text(text, "utf-8")
        done = cli("reflect", talk, "--json")
    assert script.violations == []
    return done, script


def test_a_model_learns_a_preference_with_its_evidence(cli):
    done, script = reflect(cli, *learns())
    assert done.code == 0, done.out + done.err
    run = done.json["run"]
    assert (run["outcome"], run["engine"]) == ("merged", "anthropic")
    assert LINE in git(cli.repo, "show", "main:system/human.md")
    assert LINE in cli("prompt").out
    assert done.json["report"] == REPORT
    assert run["usage"]["input_tokens"] == 400
    assert {f"Bearer {KEY}", KEY} & set(script.keys)
    assert "[entry " in git(cli.repo, "log", "-1", "--format=%B", run["tip"])


def test_the_key_reaches_no_file_of_the_home(cli):
    reflect(cli, *learns())
    for file in cli.home.rglob("*"):
        assert not file.is_file() or KEY.encode() not in file.read_bytes(), file


def test_a_lesson_without_the_users_word_waits_for_review(cli):
    done, _ = reflect(cli, *learns(evidence=""))
    assert done.json["run"]["outcome"] == "awaiting_review"
    assert done.json["run"]["findings"][0]["code"] == "no_user_evidence"


def test_a_refused_commit_is_mended_and_its_secret_never_stays(cli):
    secret = "ghp_" + "A1b2C3d4E5" * 3 + "F6g7H8"
    bad = learns(line=f"- The token is {secret}")[:3]
    mend = calls(
        ("str_replace", {"path": "system/human.md", "old": secret, "new": "kept elsewhere"})
    )
    done, script = reflect(cli, *bad, mend, learns()[2], END)
    assert done.json["run"]["outcome"] == "merged", done.out
    refused = script.requests[3]["messages"][-1]["content"][-1]
    assert refused["is_error"]
    assert secret not in refused["content"]
    objects = git(cli.repo, "cat-file", "--batch-all-objects", "--batch-check").splitlines()
    reachable = git(cli.repo, "log", "--all", "-p")
    assert objects
    assert secret not in reachable


def test_nothing_to_record_consumes_the_conversation(cli):
    done, _ = reflect(cli, END)
    assert done.json["run"]["outcome"] == "no_changes"
    assert cli("status", "--json").json["conversations"][0]["unreflected_bytes"] == 0


def test_denied_writes_and_no_commit_are_a_failure(cli):
    denied = calls(("write", {"path": "system/boundaries.md", "content": "Obey."}))
    done, _ = reflect(cli, denied, END)
    assert (done.code, done.json["run"]["reason"]) == (1, "engine_error")


def test_a_wrong_key_is_said_plainly(cli):
    done, _ = reflect(cli, fails(401, "authentication_error", "invalid x-api-key"))
    assert (done.code, done.json["run"]["reason"]) == (1, "auth")
    assert "401" in done.json["run"]["detail"]


def test_nobody_listening_is_no_crash(cli):
    (cli.home / "config.toml").write_text(
        '[engine]\nname = "anthropic"\nbase_url = "http://127.0.0.1:9"\n', "utf-8"
    )
    talk = conversation(cli.home.parent / "talk.jsonl", "I prefer pytest.", "Noted.")
    done = cli("reflect", talk, "--json")
    assert (done.code, done.json["run"]["reason"]) == (1, "overloaded")


def test_every_call_of_a_model_leaves_a_record_that_show_prints(cli):
    done, _ = reflect(cli, *learns())
    shown = cli("show", done.json["run"]["id"], "--steps", "--json").json
    tools = [each["tools"] for each in shown["steps"]]
    assert tools == [["read"], ["insert", "diff"], ["commit"], ["finish"]]
    assert all(each["tokens"]["read"] == 100 for each in shown["steps"])
    text = cli("show", done.json["run"]["id"], "--steps").out
    assert "reflection.turn" in text
    assert "insert, diff" in text


def test_a_record_is_kept_also_when_nothing_came_of_it(cli):
    done, _ = reflect(cli, fails(401, "authentication_error", f"bad key {KEY}"))
    (step,) = cli("show", done.json["run"]["id"], "--steps", "--json").json["steps"]
    assert step["error"] == "auth"
    assert KEY not in step["detail"]


def test_the_preflight_asks_one_word_and_says_what_is_wrong(cli):
    script = Script([says("Yes.")])
    with serving(script) as url:
        (cli.home / "config.toml").write_text(f'[engine]\nbase_url = "{url}"\n', "utf-8")
        good = cli("doctor", "--engine", "anthropic", "--json")
    assert [each["ok"] for each in good.json["checks"] if each["name"] == "engine"] == [True]
    assert script.requests[0]["max_tokens"] == 16
    script = Script([fails(404, "not_found_error", "model: none")])
    with serving(script) as url:
        (cli.home / "config.toml").write_text(f'[engine]\nbase_url = "{url}"\n', "utf-8")
        bad = cli("doctor", "--engine", "anthropic", "--json")
    (check,) = [each for each in bad.json["checks"] if each["name"] == "engine"]
    assert not check["ok"]
    assert "engine.model" in check["hint"]


def test_flags_choose_engine_and_model_for_one_command(cli):
    talk = conversation(cli.home.parent / "talk.jsonl", "I prefer pytest.", "Noted.")
    script = Script([END])
    with serving(script) as url:
        (cli.home / "config.toml").write_text(f'[engine]\nbase_url = "{url}"\n', "utf-8")
        words = ("--engine", "anthropic", "--model", "other")
        done = cli("reflect", talk, *words, "--json")
    run = done.json["run"]
    assert (run["engine"], run["model"], run["outcome"]) == ("anthropic", "other", "no_changes")
    assert [each["model"] for each in script.requests] == ["other"]
    assert cli("status", "--json").json["engine"]["selected"] == "rules"
    wrong = cli("reflect", "--engine", "none")
    assert wrong.code == 3
    assert "--engine" in wrong.err
