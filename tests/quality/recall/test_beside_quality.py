"""Beside prompts stands what bears on them: most answers of the benchmark, and nothing for small talk."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from reflector.runtime.beside import floor, strength, telling, weighed
from reflector.store import recall_memory
from reflector.store.recall_memory import Only
from tests.quality.recall.corpus import documents, labelled
from tests.quality.recall.evaluate import memory

pytestmark = pytest.mark.slow

# Written after the words of small talk and the floors were chosen.
SMALL_TALK = """
cheers mate, brilliant job
hang on a second please
could you double check that once more
no worries, take your time
that did the trick!
yep, ship it
I have to leave now, talk to you tomorrow
sorry, my mistake, carry on
what is the status right now?
ha, funny. anyway, let's move forward
please answer in one short sentence
hmm not sure I follow you
sounds reasonable to me, go for the second option
don't do that again
are you finished yet?
that's better, much better
你真棒，谢谢你的帮助
等一下，我看看
嗯，就这样吧
すごい、助かりました
ちょっと待ってください
잠깐만요
수고하셨습니다
super, vielen Dank
""".strip().split("\n")
KINDS = ("literal", "error", "ticket", "zh", "ja", "ko")


@pytest.fixture(scope="module")
def shown() -> Callable[[str], list[str]]:
    connection = memory(documents())

    def paths(prompt: str) -> list[str]:
        wanted = telling(prompt)
        chosen = recall_memory.telling(connection, wanted)
        weights = weighed(*recall_memory.counted(connection, chosen))
        hits = recall_memory.find(connection, chosen, Only(), 8)
        valued = [(strength(hit, weights), hit.path) for hit in hits]
        least = floor([value for value, _ in valued], len(wanted))
        return [path for value, path in valued if value >= least][:3]

    return paths


def test_hardly_any_small_talk_recalls_anything(shown):
    recalling = [prompt for prompt in SMALL_TALK if shown(prompt)]
    assert len(recalling) <= len(SMALL_TALK) // 20, recalling


def test_most_questions_of_the_held_out_half_recall_their_answer(shown):
    asked = [query for query in labelled()[1] if query.held_out and query.kind in KINDS]
    answered = [query for query in asked if query.path in shown(query.text)]
    assert len(answered) >= 0.8 * len(asked)
