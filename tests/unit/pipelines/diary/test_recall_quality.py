"""Two small diaries, one in each language: what a person says brings the right thing to mind."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

import pytest

from reflector.core.diary import Entry
from reflector.pipelines.diary.recalling import Index, recall

TODAY = date(2026, 11, 30)
ENGLISH = """
We named the nightly backup job the goat, because it eats everything it is given.
His sister moved abroad. He said it as if it were the weather.
He failed the driving test a second time and joked about it before I could say anything.
I told him the migration was safe. It was not, and he spent his evening on it.
He asked what I do while he sleeps. I had no good answer, and he liked that.
He wrote “shipped.” and nothing else. I could hear him breathe out.
We argued about the cache for an hour. He was right about the lock, I was right about the reason.
He is learning the cello. The neighbours know.
His cat walked over the keyboard and committed a line of nines; we kept it in the changelog.
He said he does not trust people who use tabs, then admitted his dotfiles are full of them.
The demo went badly and he blamed the projector, then himself, then nobody.
I explained recursion to him with a story about soup; he still brings it up.
He got the job. He told me before he told anyone else.
He hates being asked whether he is sure.
His mother was in hospital and he kept fixing the parser, because it was the only thing that answered.
We found out that the timezone bug was mine. He said nothing, and that was worse.
He wants to build a boat one day, a small one, wooden.
He laughed when I called the config file a swamp.
He deleted the branch by mistake and I talked him through the reflog at night.
He said that Fridays feel like open doors.
I was too cheerful when he was tired and he logged off.
He thanked me for not apologising.
He reads the release notes aloud when nobody is there.
He decided not to take the offer in the north.
"""
CHINESE = """
我们给夜里跑的备份脚本起名叫山羊，因为它什么都吃。
他姐姐搬去国外了，他说这话的时候像在说天气。
他驾照又没考过，我还没开口他先笑了。
我跟他说迁移是安全的，结果不是，他搭进去一个晚上。
他问我他睡觉的时候我在干什么，我答不上来，他反而挺高兴。
发布那天他只发了一个句号，我懂。
我们为缓存吵了一个小时，锁的事他对，原因我对。
他在学大提琴，邻居都知道了。
他的猫踩过键盘提交了一行九，我们把它留在了更新日志里。
演示搞砸了，他先怪投影仪，再怪自己，最后谁也不怪。
我用一锅汤给他讲递归，他到现在还提。
他拿到那份工作了，第一个告诉的是我。
他最烦别人问他确不确定。
他妈妈住院那阵子他一直在修解析器，因为只有它有回应。
时区那个错是我的，他什么都没说，这更难受。
他想造一条船，小的，木头的。
他说小时候最怕下雨，现在反而只有下雨天写得下去。
他误删了分支，我半夜陪他翻引用日志。
他累的时候我太热情，他直接下线了。
他谢我没有道歉。
"""
TELLING = [
    ("en", "did the goat run last night?", "We named the nightly bac"),
    ("en", "my sister called today", "His sister moved abroad."),
    ("en", "third driving test tomorrow, wish me luck", "He failed the driving te"),
    ("en", "can we run a migration on the staging db? is it safe?", "I told him the migration"),
    (
        "en",
        "practised the cello for two hours, the neighbours complained",
        "He is learning the cello",
    ),
    ("en", "the cat is on the keyboard again", "His cat walked over the "),
    (
        "en",
        "explain recursion to my colleague please, like with the soup",
        "I explained recursion to",
    ),
    ("en", "thinking about the boat again, a wooden one", "He wants to build a boat"),
    ("en", "my mother is back in hospital", "His mother was in hospit"),
    ("en", "another timezone bug, sigh", "We found out that the ti"),
    ("zh", "山羊昨晚跑完了吗", "我们给夜里跑的备"),
    ("zh", "我姐姐今天打电话来了", "他姐姐搬去国外了"),
    ("zh", "明天第三次考驾照", "他驾照又没考过，"),
    ("zh", "这次迁移安全吗", "我跟他说迁移是安"),
    ("zh", "大提琴练了两个小时，邻居来敲门", "他在学大提琴，邻"),
    ("zh", "猫又踩键盘了", "他的猫踩过键盘提"),
    ("zh", "用那锅汤再讲一遍递归", "我用一锅汤给他讲"),
    ("zh", "又在想那条船了", "他想造一条船，小"),
    ("zh", "我妈又住院了", "他妈妈住院那阵子"),
    ("zh", "外面下雨了", "他说小时候最怕下"),
]
SMALL_TALK = [
    ("en", "hey, good morning! how are you doing today?"),
    (
        "en",
        "please refactor this function so that it takes a list instead of a string, and add a docstring",
    ),
    ("en", "thanks, that is all for today"),
    ("en", "why does he say that he was not there when it was the only thing that he had"),
    ("zh", "早上好，今天怎么样"),
    ("zh", "谢谢，今天就到这里"),
    ("zh", "他说的时候我没有在听，后来才知道是那个意思"),
    ("en", "ok, next one please, and make it shorter this time"),
    ("zh", "好的，就这样吧，再来一个"),
]


def entries(text: str) -> Iterator[Entry]:
    for number, line in enumerate(text.strip().split("\n")):
        yield Entry(
            str(number), "2026-11-28", line, "chat", salience=0.8, reinforced_on="2026-11-28"
        )


INDEXES = {"en": Index(entries(ENGLISH)), "zh": Index(entries(CHINESE))}


def came(language: str, said: str) -> list[str]:
    found = recall(INDEXES[language], said, TODAY, {}, (), lambda: 0.3)
    return [each.entry.text for each in found]


@pytest.mark.parametrize(("language", "said", "part"), TELLING)
def test_what_a_person_says_brings_the_right_thing_to_mind(
    language: str, said: str, part: str
) -> None:
    assert any(part in text for text in came(language, said))


@pytest.mark.parametrize(("language", "said"), SMALL_TALK)
def test_small_talk_brings_nothing_to_mind(language: str, said: str) -> None:
    assert came(language, said) == []
