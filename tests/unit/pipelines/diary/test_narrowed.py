"""An index for one question answers it as the whole one does."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from reflector.core.diary import Entry
from reflector.pipelines.diary.narrowed import Narrowed
from reflector.pipelines.diary.recalling import Index

WORDS = (
    *(
        "study",
        "studies",
        "studying",
        "Running",
        "ran",
        "ties",
        "tie",
        "Café",
        "CAFE\u0301",
        "naïve",
    ),
    *(
        "kettle",
        "Kettles",
        "don't",
        "foo_bar",
        "fooBar",
        "v1.2.3",
        "1",
        "ⅸ",
        "ﬁne",
        "fine",
        "ß",
        "SS",
    ),
    *(
        "我们",
        "在海边",
        "海边",
        "海",
        "迷了路",
        "ﾊﾝ",
        "ハン",
        "the",
        "how",
        "🙂",
        "İstanbul",
        "istanbul",
    ),
)
TEXTS = st.lists(st.sampled_from(WORDS), min_size=1, max_size=6).map(" ".join)


@settings(max_examples=120, deadline=None)
@given(st.lists(TEXTS, max_size=12), TEXTS)
def test_whatever_is_asked_the_answer_is_that_of_the_whole_index(texts, query):
    entries = [
        Entry(f"{n:016x}", "2026-11-30", text, "chat", tags=(text[:5],))
        for n, text in enumerate(texts)
    ]
    whole, narrowed = Index(entries), Narrowed(entries, query)
    assert narrowed.similar(query) == whole.similar(query)
    assert len(narrowed) == len(whole)
