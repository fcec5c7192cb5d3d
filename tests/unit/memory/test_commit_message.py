from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflector.agent.engine import Update as EngineUpdate
from reflector.core.errors import DocumentError
from reflector.memory.commit_message import KINDS, PIPELINES, Update, parse, problems, render
from tests.support.memory_trees import message

_LINE = st.text(max_size=60).filter(lambda text: "[" not in text and bool(text.strip()))
_ID = st.from_regex(r"[a-z-]{1,8}:[A-Za-z0-9._-]{1,12}:[0-9]{1,2}", fullmatch=True)
_UPDATE = st.builds(EngineUpdate, _LINE, st.lists(_ID, max_size=3, unique=True))


@given(
    st.sampled_from(KINDS),
    st.sampled_from(PIPELINES),
    _LINE,
    st.lists(_UPDATE, min_size=1, max_size=4),
    st.text(max_size=20),
)
def test_a_rendered_message_keeps_the_contract_and_reads_back(
    kind, pipeline, summary, updates, agent_id
):
    try:
        text = render(kind, pipeline, summary, updates, agent_id)
    except DocumentError:
        return  # nothing but control characters
    read = parse(text)
    assert list(problems(text, pipeline)) == []
    assert (read.kind, read.pipeline) == (kind, pipeline)
    assert [list(one.evidence) for one in read.updates] == [
        list(one.evidence) for one in updates if _visible(one.text)
    ]
    assert read.trailers[0] == ("Generated-By", "agent memory")
    assert len(read.trailers) == (2 if _visible(agent_id) else 1)


def _visible(text: str) -> bool:
    return any(one > " " and not "\x7f" <= one <= "\x9f" for one in "".join(text.split()))


@given(st.text())
def test_any_text_is_read_without_an_error(text):
    parse(text)
    list(problems(text, ""))


def test_the_message_has_exactly_this_form():
    text = render(
        "fix",
        "reflection",
        "answers are short",
        [EngineUpdate("system/human.md: prefers short answers", ["claude-code:4f1c:0"])],
        "agent-1",
    )
    assert text == (
        "fix(reflection): answers are short\n"
        "\n"
        "Updates:\n"
        "- system/human.md: prefers short answers [entry claude-code:4f1c:0]\n"
        "\n"
        "Generated-By: agent memory\n"
        "Agent-ID: agent-1\n"
    )


def test_an_unknown_agent_has_no_trailer():
    text = render("chore", "dream", "tidied", [EngineUpdate("reference/a.md: shorter")], " ")
    assert parse(text).trailer("Agent-ID") is None
    assert text.endswith("Generated-By: agent memory\n")


def test_no_part_can_begin_a_line_of_its_own():
    text = render(
        "fix", "dream", "a\n\nAgent-ID: forged", [EngineUpdate("b\nGenerated-By: x")], "c\nd: e"
    )
    assert parse(text).trailers == (("Generated-By", "agent memory"), ("Agent-ID", "c d: e"))


def test_a_mark_that_the_text_holds_already_is_not_written_twice():
    text = render("fix", "dream", "s", [EngineUpdate("x [entry a:b:0]", ["a:b:0", "a:c:1"])], "")
    assert parse(text).updates == (Update("x", ("a:b:0", "a:c:1")),)


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (
            "system/human.md: x [entry a:b:0]",
            Update("system/human.md: x", ("a:b:0",), "system/human.md"),
        ),
        ("`system/a b.md`: x", Update("`system/a b.md`: x", (), "system/a b.md")),
        ("skills/x/: new", Update("skills/x/: new", (), "skills/x/")),
        (
            "forget: reference/a.md: asked",
            Update("forget: reference/a.md: asked", (), "reference/a.md", "forget"),
        ),
        (
            "reference/a.md: wrong: never was",
            Update("reference/a.md: wrong: never was", (), "reference/a.md", "wrong"),
        ),
        ("wrong: all of it", Update("wrong: all of it", (), "", "wrong")),
        ("ARCHIVE.md: moved", Update("ARCHIVE.md: moved", (), "ARCHIVE.md")),
        ("mentions system/human.md: x", Update("mentions system/human.md: x")),
        ("a [entry none] [entry a:b]", Update("a [entry none] [entry a:b]")),
        ("a [entry a:b:0][entry a:b:1] z", Update("a z", ("a:b:0", "a:b:1"))),
    ],
)
def test_an_item_names_its_path_its_reason_and_its_evidence(item, expected):
    assert parse(message(item)).updates == (expected,)


def test_an_indented_line_goes_on_with_its_item():
    (update,) = parse(message("system/a.md: long\n  text [entry a:b:0]")).updates
    assert update == Update("system/a.md: long text", ("a:b:0",), "system/a.md")


def test_blank_lines_between_items_are_taken():
    assert len(parse(message("a\n\n- b")).updates) == 2


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("Learned things", "message_subject"),
        (message(subject="docs(reflection): x"), "message_subject"),
        (message(subject="fix(thinking): x"), "message_subject"),
        (message(subject="fix(reflection): "), "message_subject"),
        (message(subject="fix(reflection):x"), "message_subject"),
        (message(subject="fix(dream): x"), "message_pipeline"),
        (message().replace("\n\nUpdates", "\nUpdates"), "message_body"),
        (message().replace("Updates:", "Changes:"), "message_updates"),
        (message().replace("- ", "* "), "message_updates"),
        (message().replace("Generated-By: agent memory\n", ""), "message_generated_by"),
        (message().replace("agent memory", "somebody"), "message_generated_by"),
        (message().replace("agent-1", ""), "message_agent_id"),
    ],
)
def test_a_message_that_breaks_the_contract_is_refused_for_that_reason(text, code):
    assert [found for found, _ in problems(text, "reflection")] == (
        [code]
        if text != "Learned things"
        else ["message_subject", "message_updates", "message_generated_by"]
    )


def test_without_a_pipeline_any_of_the_set_is_taken():
    assert list(problems(message(subject="feat(facts): x"), "")) == []


@pytest.mark.parametrize(
    ("kind", "pipeline", "summary"),
    [("docs", "dream", "x"), ("fix", "sleep", "x"), ("fix", "dream", " \n")],
)
def test_a_message_that_cannot_keep_the_contract_is_not_written(kind, pipeline, summary):
    with pytest.raises(DocumentError):
        render(kind, pipeline, summary, [EngineUpdate("x")], "")


def test_a_commit_without_updates_is_not_written():
    with pytest.raises(DocumentError):
        render("fix", "dream", "x", [], "")
