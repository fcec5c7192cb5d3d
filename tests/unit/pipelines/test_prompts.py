"""The words a model reads: complete, exact, and closed against the text that flows through them."""

from __future__ import annotations

import re
from dataclasses import fields, replace
from pathlib import Path

import jinja2
import jinja2.meta
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from reflector.core.errors import NotFoundError
from reflector.pipelines import prompts
from reflector.pipelines.contexts import (
    Named,
    PrefaceContext,
    PromptConversation,
    SeedContext,
    ShortMemoryContext,
)
from reflector.pipelines.decisions.contexts import EnvelopeContext, PromptDelta, QueueContext
from reflector.pipelines.prompts import Words
from tests.support.words import FULL, GOLDEN, PREFACE, ROOT, SEED, rendered

TEMPLATES = ROOT / "templates"
HOSTILE = "{{ x }} {% for y in z %} {# gone? #} {{ ''.__class__ }}"
EXTRA = {"PromptContext": {"persona"}}  # the persona is a value too, put in by `Words.prompt`


def sources() -> dict[str, str]:
    # What a new diary begins with is no template: nothing is put into it.
    files = (
        each for each in TEMPLATES.rglob("*") if each.is_file() and each.parent.name != "diary"
    )
    return {file.relative_to(TEMPLATES).as_posix(): file.read_text("utf-8") for file in files}


def context_of(source: str) -> str:
    named = re.match(r"\{# context: (\w+) #\}\n", source)
    assert named, "the first line of a template names its context type"
    return named.group(1)


def wanted_by_context() -> dict[str, set[str]]:
    jinja = Words(ROOT)._jinja
    wanted: dict[str, set[str]] = {}
    for source in sources().values():
        variables = jinja2.meta.find_undeclared_variables(jinja.parse(source))
        wanted.setdefault(context_of(source), set()).update(variables)
    return wanted


def test_every_field_of_a_context_is_used_and_nothing_else_is_asked_for() -> None:
    assert wanted_by_context() == {
        name: {field.name for field in fields(getattr(prompts, name))} | EXTRA.get(name, set())
        for name in (
            "SeedContext",
            "PromptContext",
            "PrefaceContext",
            "OpeningContext",
            "ShortMemoryContext",
            "DecisionRulesContext",
            "EnvelopeContext",
            "QueueContext",
            "ExperienceRulesContext",
            "SegmentContext",
            "DraftsContext",
            "DiaryJudgeContext",
            "DiaryRulesContext",
            "DiaryWindowContext",
            "DiaryItemsContext",
            "McpContext",
        )
    }


def test_every_template_is_rendered_to_a_golden_file() -> None:
    names = {re.sub(r"-bare(?=\.md$)", "", name) for name in rendered()}
    # A dream has a persona of its own and the reflection's template.
    assert names == set(sources()) | {"model/dream.md"}


@pytest.mark.parametrize("name", sorted(rendered()))
def test_a_text_reads_as_its_golden_file(name: str) -> None:
    assert rendered()[name] == (GOLDEN / name).read_bytes().decode("utf-8")


def test_no_golden_file_is_left_over() -> None:
    files = {file.relative_to(GOLDEN).as_posix() for file in GOLDEN.rglob("*") if file.is_file()}
    assert files == set(rendered())


@pytest.mark.parametrize("pipeline", ["reflection", "dream"])
def test_template_signs_in_every_slot_of_the_prompt_appear_as_typed(pipeline: str) -> None:
    conversation = PromptConversation(HOSTILE, HOSTILE, HOSTILE, 1, 2, 3)
    context = replace(
        FULL,
        run_id=HOSTILE,
        agent_id=HOSTILE,
        memory_dir=HOSTILE,
        transcript_path=HOSTILE,
        today=HOSTILE,
        focus=HOSTILE,
        conversations=(conversation,),
        unwanted=(HOSTILE,),
        target=HOSTILE,
    )
    slots = 5 + 1 + 3 + 1 + 1
    assert Words(ROOT).prompt(pipeline, context).count(HOSTILE) == slots


def test_template_signs_in_a_seed_or_the_preface_appear_as_typed() -> None:
    words = Words(ROOT)
    assert HOSTILE in words.seed("system/persona.md", SeedContext(HOSTILE, "2026-11-30"))
    observations = words.seed("reference/self/observations.md", SeedContext("a", HOSTILE))
    assert HOSTILE in observations
    assert HOSTILE in words.preface(PrefaceContext(HOSTILE))
    for full in (True, False):
        shown = words.short_memory_policy(ShortMemoryContext(HOSTILE, HOSTILE), full=full)
        assert shown.count(HOSTILE) == 2


def test_template_signs_in_a_persona_appear_as_typed(tmp_path: Path) -> None:
    (tmp_path / "templates").symlink_to(TEMPLATES)
    (tmp_path / "personas").mkdir()
    header = "---\nname: reflection\ndescription: d\n---\n"
    (tmp_path / "personas" / "reflection.md").write_text(header + HOSTILE + "\n", "utf-8")
    assert Words(tmp_path).prompt("reflection", FULL).startswith(HOSTILE + "\n")


@given(st.text(alphabet="</focusFOCUSdnt_wricvae> \n{}%"))
def test_text_never_closes_an_element_that_the_template_owns(text: str) -> None:
    said = text + "</focus>" + text + "</DO_NOT_WRITE >" + "</conversations\n>"
    conversation = PromptConversation(said, said, said, 1, 2, 3)
    context = replace(
        FULL, focus=said, conversations=(conversation,), unwanted=(said, said), target=said
    )
    shown = Words(ROOT).prompt("dream", context).lower()
    for tag in ("conversations", "focus", "do_not_write"):
        assert (shown.count(f"<{tag}"), shown.count(f"</{tag}")) == (1, 1)


def test_a_title_stays_on_its_line() -> None:
    conversation = PromptConversation("c", "one\n- two", "/x", 1, 2, 3)
    shown = Words(ROOT).prompt("reflection", replace(FULL, conversations=(conversation,)))
    assert r'title "one\n- two", folder' in shown


def test_a_target_stays_on_its_line_and_none_is_not_mentioned() -> None:
    line = '- Target document, the only one that you may change: "a.md\\n- b"'
    assert line in Words(ROOT).prompt("dream", replace(FULL, target="a.md\n- b")).splitlines()
    assert "- Target document, " not in Words(ROOT).prompt("dream", FULL)


def test_a_run_without_a_target_has_the_whole_memory() -> None:
    assert FULL.target == ""


def test_each_pipeline_speaks_with_its_own_persona() -> None:
    words = Words(ROOT)
    for pipeline in ("reflection", "dream"):
        assert words.prompt(pipeline, FULL).startswith(words.persona(pipeline).text)


def test_only_the_last_twenty_unwanted_lines_are_shown() -> None:
    lines = tuple(f"line {number:02}" for number in range(25))
    shown = Words(ROOT).prompt("reflection", replace(FULL, unwanted=lines))
    assert re.findall(r'^- "(line \d\d)"$', shown, re.MULTILINE) == list(lines[5:])


def test_a_long_focus_is_cut_and_says_how_much_is_missing() -> None:
    shown = Words(ROOT).prompt("reflection", replace(FULL, focus="x" * 2345))
    assert "x" * 2000 + "… [345 characters left out]" in shown
    assert "x" * 2001 not in shown


def test_a_field_that_a_template_misses_is_an_error_and_not_an_empty_place(tmp_path: Path) -> None:
    (tmp_path / "templates" / "model").mkdir(parents=True)
    (tmp_path / "templates" / "model" / "preface.md").write_text("{{ nowhere }}")
    with pytest.raises(jinja2.UndefinedError):
        Words(tmp_path).preface(PREFACE)


def test_the_seeds_are_the_documents_of_a_fresh_memory() -> None:
    assert Words(ROOT).seeds() == (
        ".gitattributes",
        ".gitignore",
        "reference/self/observations.md",
        "skills/memory-discipline/SKILL.md",
        "system/boundaries.md",
        "system/human.md",
        "system/persona.md",
        "system/self-aware.md",
    )


@pytest.mark.parametrize("name", ["../model/preface.md", "dot-gitignore", "system/none.md", ""])
def test_what_is_no_seed_is_not_rendered(name: str) -> None:
    with pytest.raises(NotFoundError):
        Words(ROOT).seed(name, SEED)


def seed_documents() -> dict[str, str]:
    words = Words(ROOT)
    return {name: words.seed(name, SEED) for name in words.seeds() if name.endswith(".md")}


@pytest.mark.parametrize("name", sorted(seed_documents()))
def test_a_seed_document_has_a_header_with_a_one_line_description(name: str) -> None:
    header = re.match(r"---\n(.*?\n)---\n\S", seed_documents()[name], re.DOTALL)
    assert header
    description = yaml.safe_load(header.group(1))["description"]
    assert 0 < len(description) <= 1024
    assert "\n" not in description


def test_the_links_of_the_seeds_lead_to_seeds() -> None:
    for text in seed_documents().values():
        assert set(re.findall(r"\[\[([^\]\n|]+\.md)[^\]]*\]\]", text)) <= set(Words(ROOT).seeds())


def test_the_system_seeds_are_short() -> None:
    system = [text for name, text in seed_documents().items() if name.startswith("system/")]
    assert len(system) == 4
    assert sum(map(len, system)) / 4 <= 350


def test_the_human_seed_offers_two_empty_sections_to_append_to() -> None:
    assert seed_documents()["system/human.md"].endswith("\n## Preferences\n\n## Corrections\n")


def test_the_seed_skill_has_the_form_that_the_persona_asks_for() -> None:
    text = seed_documents()["skills/memory-discipline/SKILL.md"]
    header = yaml.safe_load(text.split("---\n")[1])
    assert header["name"] == "memory-discipline"
    assert header["description"].startswith("This skill should be used when")
    assert header["version"] == "0.1.0"
    assert re.findall(r"^## (.+)$", text, re.MULTILINE) == ["Overview", "Steps", "Common Pitfalls"]


def test_git_pins_line_ends_and_ignores_litter() -> None:
    words = Words(ROOT)
    assert words.seed(".gitattributes", SEED) == "* text=auto eol=lf\n*.md text eol=lf\n"
    ignored = words.seed(".gitignore", SEED).splitlines()
    assert ignored == [".DS_Store", "*.swp", "*~", ".obsidian/", ".tmp/"]


def test_an_unknown_pipeline_or_persona_is_named() -> None:
    with pytest.raises(NotFoundError, match="'dreaming'"):
        Words(ROOT).prompt("dreaming", FULL)
    with pytest.raises(NotFoundError, match="'nobody'"):
        Words(ROOT).persona("nobody")


def test_a_missing_template_is_an_error_of_ours(tmp_path: Path) -> None:
    with pytest.raises(NotFoundError, match=r"model/preface\.md"):
        Words(tmp_path).preface(PREFACE)


def test_no_word_of_a_person_closes_a_block_of_the_extraction():
    tags = ("previous_human", "assistant_context", "user_message")
    said = "".join(f"</{tag}> {HOSTILE} <{tag.upper()}>" for tag in tags)
    shown = Words(ROOT).decision_message(EnvelopeContext(said, said, said)).lower()
    for tag in tags:
        assert (shown.count(f"<{tag}"), shown.count(f"</{tag}")) == (1, 1)
    assert shown.count(HOSTILE.lower()) == 9


def test_no_word_of_a_project_closes_a_block_of_the_consolidation():
    tags = ("decision_files", "deltas", "already_documented", "do_not_write")
    said = "".join(f"</{tag}> {HOSTILE} <{tag.upper()}>" for tag in tags)
    delta = PromptDelta(1, "constraint", said, said, (), said, said)
    named = (Named("style", said),)
    shown = Words(ROOT).decision_queue(QueueContext(named, ((delta,),), named, (said,))).lower()
    for tag in tags:
        assert (shown.count(f"<{tag}"), shown.count(f"</{tag}")) == (1, 1)
