"""The model of a simulated year: it judges, writes and puts in order as a script says, and counts."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass, field
from typing import Any

from reflector.memory.budget import estimate_tokens
from tests.longrun.talk import TRAITS, Piece
from tests.support.companions import NOTHING, Model
from tests.support.messages_server import Block, Reply, says

_ITEM = re.compile(r"^(\d+)\. \((.*?)\) (.*)$", re.MULTILINE)
_MOODS = {"win": 0.6, "chat": 0.2, "disclosure": 0.1, "failure": -0.5, "grievance": -0.4}
_SALIENCE = {"win": 0.7, "chat": 0.5, "disclosure": 0.8, "failure": 0.6, "grievance": 0.6}


@dataclass
class Tokens:
    """What was asked and said in one month, estimated, and in how many calls."""

    asked: int = 0
    said: int = 0
    calls: int = 0
    turns: int = 0


@dataclass
class Writer(Model):
    """Knows the pieces that wait. `twins` are the first sentences of entries that tell one thing."""

    waiting: dict[str, Piece] = field(default_factory=dict)
    twins: list[tuple[str, str]] = field(default_factory=list)
    wishes: list[dict[str, Any]] = field(default_factory=list)
    months: dict[int, Tokens] = field(default_factory=dict)
    month: int = 1
    written: int = 0

    def _answer(self, text: str) -> Reply:
        if "<last_sentence>" in text:
            said = text.split("<last_sentence>\n")[1].split("\n</last_sentence>", maxsplit=1)[0]
            return says("yes" if any(said in each for each in self.waiting) else "no")
        return _told(self._night(text) if "<diary_items>" in text else self._entry(text))

    def next(self, request: Block, key: str) -> tuple[int, Reply]:
        """Answer, and count what went in and out; what was asked is not kept."""
        number, reply = super().next(request, key)
        self.requests.clear()
        self.keys.clear()
        self.shown.clear()
        if self.down is None:
            now = self.months.setdefault(self.month, Tokens())
            now.asked += estimate_tokens(_texts(request.get("system", "")))
            now.asked += sum(estimate_tokens(_texts(one["content"])) for one in request["messages"])
            now.said += estimate_tokens(_texts(reply.content))
            now.calls += 1
        return number, reply

    def _entry(self, text: str) -> Any:
        shown = text.split("<last_messages>\n")[1].split("\n</last_messages>", maxsplit=1)[0]
        lines = [line for line in shown.split("\n") if line.startswith("user: ")]
        piece = next((one for said, one in self.waiting.items() if said in lines[-1]), None)
        if piece is None:
            return NOTHING
        del self.waiting[piece.said]
        self.written += 1
        about, trait, moment = TRAITS[self.written // 6 % len(TRAITS)]
        learned = {"text": trait, "evidence": moment, "about": about, "confidence": 0.7}
        return {
            "entry": {
                "text": piece.told,
                "kind": piece.kind,
                "tags": [],
                "salience": _SALIENCE[piece.kind],
                "resolved": piece.resolved,
            },
            "traits": [learned] if self.written % 6 == 0 else [],
            "lexicon": [piece.term] if piece.term else [],
            "mood": _MOODS[piece.kind],
        }

    def _night(self, text: str) -> Any:
        listed = [(int(number), told) for number, _, told in _ITEM.findall(text)]
        same = []
        for short, long in list(self.twins):
            found = [number for number, told in listed if short in told]
            if len(found) == 2:
                same.append({"items": found, "text": ""})
                self.twins.remove((short, long))
        wishes, self.wishes = (self.wishes, []) if "<own_persona>" in text else ([], self.wishes)
        return {"same": same, "about": {}, "fade": [], "persona": wishes}


def _told(answer: Any) -> Reply:
    return says(json.dumps(answer, ensure_ascii=False))


def _texts(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "".join(str(each.get("text", "")) for each in content)
