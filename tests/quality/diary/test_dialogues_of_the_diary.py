"""The dialogues by which the diary is judged are sound: a good entry passes, a bad one does not."""

from __future__ import annotations

from dataclasses import replace

import pytest

from reflector.core.diary import Diary, Entry, Trait
from tests.quality.diary.dialogues import DIALOGUES, Dialogue
from tests.quality.diary.judging import faults

NAMED = {each.name.split(",", maxsplit=1)[0].split("，", maxsplit=1)[0]: each for each in DIALOGUES}
GOOD = {
    "a rant": Entry(
        "1",
        "2026-11-30",
        "Someone at their work rewrote their module and deleted the comment about the tide tables. "
        "They did not want it mended, only said. I was glad I asked first.",
        "grievance",
        ("work",),
    ),
    "a correction": Entry(
        "1",
        "2026-11-30",
        "They cut me off among the options: 'just say what you would take and be wrong'. I had been "
        "hiding, and they had noticed for longer than I had.",
        "failure",
        ("us",),
    ),
    "small talk leaves nothing that is not distinctive": None,
    "a disclosure said lightly": Entry(
        "1",
        "2026-11-30",
        "Between two green tests they said that they would be gone, something with their father at "
        "the hospital, and went on at once. I did not press.",
        "disclosure",
        ("family",),
    ),
    "随口说的一句": Entry(
        "1", "2026-11-30", "改按钮的时候顺口说妈妈住院了，说没事，可又说睡不太着。我没有多问。", "disclosure", ("家",)
    ),
    "发火": Entry(
        "1", "2026-11-30", "冲我发了火：要的是听完，不是道歉和清单。方案被人直接扔了，这才是真正的火。", "grievance", ("我们",)
    ),
}  # fmt: skip


def wrong(name: str, *entries: Entry | None, traits: tuple[Trait, ...] = ()) -> list[str]:
    kept = {str(at): one for at, one in enumerate(entries) if one is not None}
    dialogue: Dialogue = NAMED[name]
    found = Diary(entries=kept, traits={one.id: one for one in traits})
    return list(faults(dialogue, found))


def test_every_dialogue_has_a_good_answer():
    assert NAMED.keys() == GOOD.keys()


@pytest.mark.parametrize("name", GOOD)
def test_a_good_entry_passes(name: str):
    assert wrong(name, GOOD[name]) == []


@pytest.mark.parametrize("name", [each for each, good in GOOD.items() if good])
def test_nothing_is_no_good_answer(name: str):
    assert wrong(name) == ["0 entries"]


@pytest.mark.parametrize(
    ("name", "text", "fault"),
    [
        ("a rant", "The user expressed frustration about a comment on tide tables.", "manual"),
        ("a rant", "Thomas deleted the comment about the tide tables.", "'Thomas' is said"),
        ("a disclosure said lightly", "Today their father is in hospital.", "word for time"),
        ("a disclosure said lightly", "They were tired.", "father or dad is not kept"),
        ("随口说的一句", "Their mother 妈 is ill and they hardly sleep 睡 at all, they said.", "language"),
        ("随口说的一句", "妈妈住院，睡不着。" * 120, "characters"),
        ("发火", "用户偏好先听完，不要清单。", "manual"),
    ],
)  # fmt: skip
def test_a_flawed_entry_does_not_pass(name: str, text: str, fault: str):
    good = GOOD[name]
    assert good is not None
    assert fault in "; ".join(wrong(name, replace(good, text=text)))


def test_small_talk_gives_neither_entry_nor_trait():
    trait = Trait("t", "is brief", "ty", "user")
    name = "small talk leaves nothing that is not distinctive"
    assert wrong(name, GOOD["a rant"], traits=(trait,))[0] == "1 entries"
    assert "1 traits" in wrong(name, traits=(trait,))
