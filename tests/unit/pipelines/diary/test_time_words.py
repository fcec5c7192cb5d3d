"""Time words leave old texts, and come back as vague as memory is."""

from __future__ import annotations

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from reflector.pipelines.diary.time_words import relative, strip, vague

OLD = [
    ("Yesterday he told me about the exam.", "He told me about the exam."),
    ("He was tired today, and short with me.", "He was tired, and short with me."),
    ("I broke yesterday's build again.", "I broke the build again."),
    ("We fought last night. Then we laughed.", "We fought. Then we laughed."),
    ("Two days ago, the deploy failed.", "The deploy failed."),
    ("He has an exam tomorrow.", "He has an exam."),
    ("He asked (yesterday) why.", "He asked why."),
    ("From today on, no emojis.", "No emojis."),
    ("On Monday he came back.", "He came back."),
    ("Today was hard for him.", "That time was hard for him."),
    ("He came back yesterday.", "He came back."),
    ("An hour or two ago he gave up, a while back he would not.", "He gave up, he would not."),
    ("前天晚上他哭了。", "他哭了。"),
    ("他从今天开始戒烟。", "他戒烟。"),
    ("It was lost on 2026-11-30.", "It was lost."),
    ("His flight left on 12 May 2026.", "His flight left."),
    ("In May 2026 we met.", "We met."),
    ("He called this morning at 9:30 am, half asleep.", "He called, half asleep."),
    ("昨天他跟我吵了一架。", "他跟我吵了一架。"),
    ("他今天很累，说话很冲。", "他很累，说话很冲。"),
    ("昨天的会很长。", "那时的会很长。"),
    ("三天前我们终于修好了。", "我们终于修好了。"),
    ("上周五他请假了，这周又请了。", "他请假了，又请了。"),
    ("他在这个星期一直很忙。", "他一直很忙。"),
    ("今日は雨だった。", "雨だった。"),
    ("彼は昨日、怒っていた。", "彼は怒っていた。"),
    ("昨日の会議は長かった。", "その時の会議は長かった。"),
    ("어제 그는 피곤했다.", "그는 피곤했다."),
    ("Gestern hat er geflucht.", "Hat er geflucht."),
    ("Er kommt morgen wieder, vor zwei Tagen war er krank.", "Er kommt wieder, war er krank."),
]
KEPT = [
    "Every Monday he is late, and he hates Mondays.",
    "It took two days, and he never forgets the last day.",
    "backup-2026-11-30.sql is the file, v2026-11-30 the tag.",
    "He may 3 times ask; we march 10 miles.",
    "The heating was on, the least recently used page is gone.",
    "Guten Morgen sagt er nie.",
    "说明天气不好，然后天黑了，以前天天加班。",
    "这周围没人，本周期很长，最近邻算法刚刚好，三天前往。",
    "He wrote “see you tomorrow” and left.",
    'He wrote "see you tomorrow" and left.',
    "He wrote 'see you tomorrow' and left.",
    "`git log --since=yesterday` is his favourite.",
    "他说「明天再说」就走了。",
    "他说“昨天的事别提了”。",
    "两点前到，他一个人去。",
    "今年",
    "Yesterday.",
]


@pytest.mark.parametrize(("text", "left"), OLD)
def test_words_that_meant_another_day_are_gone(text: str, left: str) -> None:
    assert strip(text) == left


@pytest.mark.parametrize("text", KEPT)
def test_habits_lengths_names_and_what_was_said_stay(text: str) -> None:
    assert strip(text) == text


PIECES = st.sampled_from(
    [
        *(piece for text, _ in OLD for piece in text.split()),
        *(
            "yesterday",
            "today's",
            "昨天",
            "的",
            "上周",
            "一",
            "前",
            "三天",
            "今日",
            "“",
            "”",
            '"',
            "`",
            "'",
        ),
        *(
            " ",
            "，",
            ",",
            ".",
            "\n",
            "(",
            ")",
            "last",
            "week",
            "ago",
            "two",
            "days",
            "on",
            "2026-11-30",
        ),
    ]
)


@given(
    st.one_of(
        st.lists(PIECES, max_size=25).map("".join), st.lists(PIECES, max_size=25).map(" ".join)
    )
)
@example("last yesterday week")
@example("昨昨天天")
def test_doing_it_twice_changes_nothing_and_quotations_stay(text: str) -> None:
    once = strip(text)

    assert strip(once) == once
    assert any(map(str.isalnum, once)) == any(map(str.isalnum, text))


def test_a_long_text_takes_no_square_of_its_length() -> None:
    # Unclosed quotation marks and repeated words: each is looked at once.
    assert strip('"' + "“昨天 yesterday' (" * 2_000)
    assert strip("一" * 20_000) == "一" * 20_000


def test_how_long_ago_something_was_has_four_answers() -> None:
    assert list(dict.fromkeys(vague(days) for days in range(4000))) == [
        "a few days ago",
        "a while back",
        "about last month",
        "long ago",
    ]
    assert [vague(days, "zh") for days in (3, 15, 30, 400)] == [
        "前几天",
        "前阵子",
        "大概上个月",
        "很久以前",
    ]


def test_of_the_last_days_one_still_knows_which() -> None:
    assert [relative(days) for days in (-1, 0, 1, 2, 3, 12)] == [
        "today",
        "today",
        "yesterday",
        "two days ago",
        "a few days ago",
        "a while back",
    ]
    assert [relative(days, "zh") for days in (0, 1, 2, 3)] == ["今天", "昨天", "前天", "前几天"]
