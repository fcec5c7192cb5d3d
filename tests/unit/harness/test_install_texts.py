"""Our entries in somebody else's JSON file: put in, found again, taken out, nothing else touched."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from reflector.harness.installs.json_text import MalformedError, parse
from reflector.harness.installs.parts import Shared, holds, merged, without

OLD = "/old/bin/reflector"
FOREIGN: dict[str, Any] = {"hooks": [{"type": "command", "command": "notify-send hello"}]}


def command(event: str, program: str = "/home/p/.reflector/bin/reflector") -> str:
    return f"[ -x {program} ] || exit 0; exec {program} hook claude-code {event}"


def group(event: str, program: str = "/home/p/.reflector/bin/reflector") -> dict[str, Any]:
    return {"hooks": [{"type": "command", "command": command(event, program), "timeout": 5}]}


def part(*events: str, comments: bool = False) -> Shared:
    return Shared(
        harness="claude-code",
        hooks={event: group(event) for event in events or ("SessionStart", "Stop")},
        rules=("Bash(/home/p/.reflector/bin/reflector memory cat:*)",),
        rules_at=("permissions", "allow"),
        rule_form="Bash(%:*)",
        comments=comments,
    )


PART = part()

scalars = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | st.text()
)
values = st.recursive(
    scalars,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)
foreign_groups = st.fixed_dictionaries(
    {"hooks": st.lists(st.fixed_dictionaries({"command": st.text()}), max_size=2)}
)
hooks = st.dictionaries(
    st.sampled_from(["SessionStart", "Stop", "PreToolUse"]), st.lists(foreign_groups, max_size=3)
)
permissions = st.fixed_dictionaries(
    {}, optional={"allow": st.lists(st.text(), max_size=3), "deny": st.lists(st.text(), max_size=2)}
)
settings_files = st.builds(
    lambda more, ours: {**more, **ours},
    st.dictionaries(st.text(), values, max_size=3).map(
        lambda found: {k: v for k, v in found.items() if k not in ("hooks", "permissions")}
    ),
    st.fixed_dictionaries({}, optional={"hooks": hooks, "permissions": permissions}),
)


@st.composite
def texts(draw) -> str:
    """A settings file as people and programs write them."""
    value = draw(settings_files)
    indent = draw(st.sampled_from([None, 0, 2, 4, "\t"]))
    compact = indent is None and draw(st.booleans())
    text = json.dumps(
        value,
        indent=indent,
        ensure_ascii=draw(st.booleans()),
        separators=(",", ":") if compact else None,
    )
    head: str = draw(st.sampled_from(["", "\ufeff"]))
    tail: str = draw(st.sampled_from(["", "\n", "\n\n"]))
    newline: str = draw(st.sampled_from(["\n", "\r\n"]))
    return (head + text + tail).replace("\n", newline)


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(text=texts())
@example(text="{}")
@example(text="{\n}\n")
@example(text='{"hooks": {}}')
@example(text='{"hooks": {"Stop": [ ]}, "permissions": {"allow": [\n]}}')
@example(text="")
@example(text="\ufeff")
@example(text=" \n")
@example(text='{"a": 1, "a": 2}')
def test_install_and_uninstall_leave_the_same_bytes(text):
    done = merged(PART, text, None)
    assert holds(PART, done.text)
    assert without(PART, done.text, done.before) == text


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(text=texts())
def test_what_others_wrote_means_the_same_after_an_install(text):
    before = parse(text).plain()
    after = parse(merged(PART, text, None).text).plain()
    for event in PART.hooks:
        assert after["hooks"][event].pop() == PART.hooks[event]
        if event not in before.get("hooks", {}):
            del after["hooks"][event]
    if not after["hooks"] and "hooks" not in before:
        del after["hooks"]
    assert after["permissions"]["allow"].pop() == PART.rules[0]
    if "allow" not in before.get("permissions", {}):
        del after["permissions"]["allow"]
    if "permissions" not in before:
        del after["permissions"]
    assert json.dumps(after) == json.dumps(before)


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(text=texts())
def test_what_others_wrote_keeps_its_bytes_and_its_order(text):
    """Every character of the old text is in the new one, in the same order."""
    new = iter(merged(PART, text, None).text)
    assert all(char in new for char in text.removesuffix("\n") if text.strip("\ufeff \r\n"))


@pytest.mark.slow
@settings(deadline=None, max_examples=60)
@given(text=texts())
def test_a_second_install_changes_nothing(text):
    once = merged(PART, text, None)
    assert merged(PART, once.text, once.before).text == once.text
    assert merged(PART, once.text, None).text == once.text


def test_an_older_entry_is_replaced_where_it_stands():
    older = {"hooks": {"Stop": [group("Stop", OLD), FOREIGN], "Setup": [group("Setup", OLD)]}}
    text = json.dumps(older, indent=2)
    after = json.loads(merged(PART, text, None).text)
    assert after["hooks"]["Stop"] == [group("Stop"), FOREIGN]
    assert after["hooks"].get("Setup") is None
    assert after["hooks"]["SessionStart"] == [group("SessionStart")]


def test_the_form_without_a_test_for_the_program_counts_as_ours():
    plain = {"hooks": [{"type": "command", "command": f"{OLD} hook claude-code Stop"}]}
    text = json.dumps({"hooks": {"Stop": [plain]}})
    assert json.loads(without(PART, text, None)) == {}


def test_a_hook_of_ours_among_others_in_one_group_goes_alone():
    mixed = {"hooks": [*FOREIGN["hooks"], *group("Stop", OLD)["hooks"]]}
    text = json.dumps({"hooks": {"Stop": [mixed]}}, indent=2)
    after = json.loads(merged(PART, text, None).text)
    assert after["hooks"]["Stop"] == [FOREIGN, group("Stop")]
    assert json.loads(without(PART, text, None)) == {"hooks": {"Stop": [FOREIGN]}}


def test_a_wrapper_of_the_person_around_our_command_is_not_ours():
    wrapped = {"hooks": [{"type": "command", "command": f"log.sh; {OLD} hook claude-code Stop"}]}
    other = {"hooks": [{"type": "command", "command": f"{OLD} hook codex Stop"}]}
    text = json.dumps({"hooks": {"Stop": [wrapped, other]}})
    assert without(PART, text, None) == text


def test_an_empty_list_of_the_person_stays():
    text = '{"hooks": {"Stop": []}, "permissions": {"allow": [ ]}}'
    done = merged(PART, text, None)
    assert without(PART, done.text, done.before) == text


def test_without_a_note_containers_that_we_leave_empty_go():
    done = merged(PART, '{"model": "opus"}\n', None)
    assert without(PART, done.text, None) == '{"model": "opus"}\n'


def test_what_came_after_us_stays():
    done = merged(PART, '{\n  "model": "opus"\n}\n', None)
    value = json.loads(done.text)
    value["hooks"]["Stop"].append(FOREIGN)
    value["permissions"]["allow"].append("Bash(ls)")
    later = json.dumps(value, indent=4)
    left = json.loads(without(PART, later, done.before))
    assert left == {
        "model": "opus",
        "hooks": {"Stop": [FOREIGN]},
        "permissions": {"allow": ["Bash(ls)"]},
    }


def test_a_rule_that_the_person_had_written_stays():
    text = json.dumps({"permissions": {"allow": list(PART.rules)}})
    done = merged(PART, text, None)
    assert done.text.count(PART.rules[0]) == 1
    assert without(PART, done.text, done.before) == text


def test_without_permission_our_rule_goes():
    done = merged(PART, "{}", None)
    bare = Shared(PART.harness, PART.hooks, (), PART.rules_at, PART.rule_form)
    assert "permissions" not in json.loads(merged(bare, done.text, done.before).text)


COMMENTED = """// mine
{
  "theme": "dark", // not "light": https://example.com
  /* hooks {below} */
  "hooks": {
    "Stop": [ // one
      {"hooks": [{"command": "say //hello"}]} // two
    ],
    "Old": [
      // nothing yet
    ] /* end */ }
} // the end"""


def test_comments_keep_their_places():
    commented = part("Stop", "Old", comments=True)
    done = merged(commented, COMMENTED, None)
    assert "// two\n      {" in done.text
    assert parse(done.text, comments=True).plain()["hooks"]["Stop"][1] == group("Stop")
    assert without(commented, done.text, done.before) == COMMENTED


def test_what_follows_a_comment_does_not_become_one():
    ours = json.dumps(group("Stop"))
    text = '{"hooks": {"Stop": [{"hooks": []}, // mine\n ' + ours + ', {"hooks": [1]}]}}'
    left = parse(without(part(comments=True), text, None), comments=True).plain()
    assert left == {"hooks": {"Stop": [{"hooks": []}, {"hooks": [1]}]}}


@pytest.mark.parametrize(
    ("text", "line", "what"),
    [
        ('{\n  "a": 1,\n}', 2, "a comma stands before the end"),
        ("{\n  // no\n}", 2, "a key in double quotes is expected, not '/'"),
        ('{\n "a" 1}', 2, "a colon is expected, not '1'"),
        ('{"a": [1 2]}', 1, "a comma or ']' is expected, not '2'"),
        ('{"a": ', 1, "a value is missing at the end"),
        ('{"a": "x\ny"}', 1, "a string is not well formed"),
        ("{} {}", 1, "something follows the end of the document"),
        ("[]", 1, "the document should be an object"),
        ('{\n"hooks": []}', 2, '"hooks" should be an object'),
        ('{"hooks": {\n"Stop": {}}}', 2, '"hooks"."Stop" should be a list'),
        ('{"permissions": {"allow": "all"}}', 1, '"permissions"."allow" should be a list'),
        ("[" * 200, 1, "more than 100 levels are inside each other"),
        ("{'a': 1}", 1, 'a key in double quotes is expected, not "\'"'),
        ('{"a": NaN}', 1, "a value is expected, not 'N'"),
        ('{"a": tru}', 1, "a value is expected, not 't'"),
    ],
)
def test_what_is_not_as_it_should_be_is_named_with_its_line(text, line, what):
    with pytest.raises(MalformedError) as caught:
        merged(PART, text, None)
    assert (caught.value.line, caught.value.what) == (line, what)


@settings(deadline=None, max_examples=60)
@given(value=values)
def test_the_reader_agrees_with_the_json_of_python(value):
    for indent in (None, 2):
        text = json.dumps(value, indent=indent)
        assert json.dumps(parse(text).plain()) == json.dumps(json.loads(text))
