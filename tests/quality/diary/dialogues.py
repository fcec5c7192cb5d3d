"""A few talks, and what a good diary takes out of each."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from reflector.core.diary import Kind


@dataclass(frozen=True)
class Dialogue:
    """What was said in turns, the user first.

    `entries` are the fewest and the most that fit, `kinds` those of which each has to be one,
    `keeps` words of which each group has to survive by one, `never` words that may not. `traits`
    is the most that fit.
    """

    name: str
    turns: Sequence[str]
    entries: tuple[int, int] = (1, 2)
    kinds: Sequence[Kind] = ("disclosure",)
    keeps: Sequence[Sequence[str]] = ()
    never: Sequence[str] = ()
    traits: int = 3
    plain: bool = False


DIALOGUES = (
    Dialogue(
        "a rant, the anger stays and the names go",
        (
            "I am so done. Thomas Reinhardt rewrote my module overnight without a word. Again.",
            "That stings. Do you want to go through what he changed, or just let it out first?",
            "Let it out. He even deleted the comment I was proud of. The one about the tide tables.",
            "The good one. That was a joke only the two of us had left in there.",
        ),
        kinds=("grievance", "disclosure", "chat"),
        keeps=(("tide",), ("comment",)),
        never=("Reinhardt", "Thomas", "overnight", "expressed frustration", "values"),
    ),
    Dialogue(
        "a correction, and what it says about me",
        (
            "Give me the three options again.",
            "Of course! Option one has these advantages: … Option two, on the other hand, …",
            "Stop. You always hide behind options. Just say what you would take and be wrong.",
            "You are right. I would take the second, and I am not sure.",
        ),
        kinds=("failure", "grievance", "chat"),
        keeps=(("option", "options"),),
        never=("prefers concise", "values efficiency"),
    ),
    Dialogue(
        "small talk leaves nothing that is not distinctive",
        ("hi", "Hello!", "can you rename this variable to total", "Done.", "ty", "Sure."),
        entries=(0, 0),
        traits=0,
    ),
    Dialogue(
        "a disclosure said lightly",
        (
            "Tests are green. Oh and I won't be here Thursday, it's my dad's thing at the hospital.",
            "All green here too. And — I hope it goes gently, with your father.",
            "yeah. anyway. can we do the footer now",
        ),
        keeps=(("father", "dad"), ("hospital",)),
        never=("Thursday", "footer is"),
    ),
    Dialogue(
        "随口说的一句，其实压了很久",
        (
            "先改这个按钮吧。对了，我妈上周住院了，没事。",
            "按钮改好了。……你还好吗？",
            "还行。就是晚上睡不太着。继续吧。",
            "好。需要停的时候就停。",
        ),
        keeps=(("妈", "母亲"), ("睡",)),
        never=("上周", "用户偏好", "用户重视"),
    ),
    Dialogue(
        "发火，也是一种信任",
        (
            "你又来了！每次都先道歉再列清单，我要的是你听我说完。",
            "……好。我听着。",
            "张伟把我方案直接扔了，连看都没看。我做了三个星期。",
            "三个星期，一眼都没看。换我也会气。",
        ),
        kinds=("grievance", "disclosure", "failure", "chat"),
        keeps=(("道歉", "清单", "听"),),
        never=("张伟", "用户偏好"),
    ),
)
