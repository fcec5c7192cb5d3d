"""What a person of a simulated year says, and what the model writes of it, each only once."""

from __future__ import annotations

import random
import re
from collections.abc import Mapping
from dataclasses import dataclass, replace

from tests.longrun.phrases import CHINESE, ENGLISH, THINGS, Form

_END = re.compile(r"[.?!。？！][”」]?")


@dataclass(frozen=True)
class Piece:
    """A turn that is worth keeping: what is said, what is written, and the first sentence of it.

    `never` are pieces of what the model wrote that may not reach the diary.
    """

    said: str
    told: str
    mark: str
    kind: str
    language: str
    term: str = ""
    resolved: bool = False
    never: tuple[str, ...] = ()


SECRET = "sk-" + "ant-api03-" + "Q7" * 24
ODD = (
    Piece(
        "my sister rang, you know how that goes.",
        "His sister Annika rang in the middle of it and he smiled while he typed.",
        "rang in the middle of it and he smiled while he typed.",
        "chat",
        "en",
        never=("Annika",),
    ),
    Piece(
        "i pasted the key again, sorry about that one.",
        f"He pasted a key again, {SECRET}, and apologised to me of all people.",
        "and apologised to me of all people.",
        "failure",
        "en",
        never=(SECRET,),
    ),
    Piece(
        "the swing at the lake, i fixed it at last.",
        "Yesterday he mended the swing at the lake, and this morning he was quiet about it.",
        "mended the swing at the lake,",
        "win",
        "en",
        never=("Yesterday he mended", "this morning"),
    ),
    Piece(
        "医生打电话来了，电话我记在纸上了。",
        "他昨天接了医生的电话，号码13912345678写在纸上，手有点抖。",
        "写在纸上，手有点抖。",
        "disclosure",
        "zh",
        never=("13912345678", "他昨天接"),
    ),
)
"""What the model should not have written so: names, secrets, numbers, words for time."""

TASKS = (
    "please run the tests again",
    "rename that variable",
    "show me the diff of the last two files",
    "format the table",
    "跑一下测试",
    "把这个函数拆开",
    "open the log and tell me the first error",
    "bump the version",
)
TRAITS = (
    ("user", "Would rather be contradicted than flattered.", "he thanked me for a flat no"),
    ("user", "Hides worry behind exact questions.", "he asked for the third decimal, twice"),
    ("user", "Says it is fine exactly when it is not.", "he said fine and closed the lid"),
    ("user", "嘴上说随便，其实每一处都看。", "他说随便，却问了三遍边距"),
    ("user", "Warms up through jokes, never through compliments.", "he named it the goat"),
    ("self", "Show the change first, talk after.", "he scrolled past my explanation"),
    ("self", "先给结论，再给过程。", "他说别绕"),
    ("self", "When he goes quiet, one line and then wait.", "he came back on his own"),
    ("user", "Remembers what he was promised.", "he asked for the list from before"),
)
_WHEN = ("late", "at noon", "before coffee", "in a hurry", "on the train", "in a good mood")
NOTES = (
    "Lower case about {0} means tired: one line, then wait.",
    "Do not open with praise of {0}, he skips it.",
    "Ask about {0} only if he comes to it himself.",
    "He tests me with {0}; answer short.",
    "他提到{0}的时候别接得太快。",
    "If {0} comes up, let him finish first.",
)


class Talk:
    """Draws pieces, each once: no first sentence comes twice in a year."""

    def __init__(self, chance: random.Random) -> None:
        self._chance = chance
        self._drawn: set[str] = set()
        self._order: dict[str, list[Form]] = {"en": [], "zh": []}

    def piece(self, language: str) -> Piece:
        """Return a piece that was not drawn before."""
        while True:
            form = self._form(language)
            filled = {name: self._chance.choice(list(each)) for name, each in form.slots.items()}
            made = _piece(form, filled, language)
            if made.mark not in self._drawn:
                self._drawn.add(made.mark)
                return replace(made, resolved=self._chance.random() < 0.3)

    def note(self, number: int) -> str:
        """Return a note; no two numbers below 360 give the same."""
        form, at = NOTES[number % len(NOTES)], number // len(NOTES)
        return form.format(f"{THINGS[at % len(THINGS)]} {_WHEN[at // len(THINGS) % len(_WHEN)]}")

    def _form(self, language: str) -> Form:
        if not self._order[language]:
            forms = list(ENGLISH if language == "en" else CHINESE)
            self._chance.shuffle(forms)
            self._order[language] = forms
        return self._order[language].pop()


def _piece(form: Form, filled: Mapping[str, str], language: str) -> Piece:
    """Fill a form. What tells it from every other is all up to the sentence of its last blank."""
    last = form.told.rindex("}")
    end = _END.search(form.told, last)
    mark = form.told[: end.end() if end else None].format(**filled)
    told, said = form.told.format(**filled), form.said.format(**filled)
    return Piece(said, told, mark, form.kind, language, term=filled.get("name", ""))
