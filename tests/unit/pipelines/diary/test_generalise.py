"""What tells who somebody else is is made general, and nothing else is touched."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reflector.pipelines.diary.generalise import generalise

MADE_GENERAL = [
    # Beside a relation.
    ("My friend Anna Smith said she would come.", "A friend said she would come."),
    ("He had dinner with his sister Mia yesterday.", "He had dinner with his sister yesterday."),
    ("Anna, my friend, was late.", "A friend was late."),
    ("I met Jean-Luc, my boss.", "I met a boss."),
    ("The user's colleague Tom left.", "A colleague left."),
    ("our old friend called Bob", "an old friend"),
    ("her mother-in-law Ruth moved in", "her mother-in-law moved in"),
    # By a title or a verb.
    ("Dr. Brown said it is nothing.", "Someone said it is nothing."),
    ("Then Mrs Miller called.", "Then someone called."),
    ("Tom told him it was over.", "Someone told him it was over."),
    ("He broke up with Sara.", "He broke up with someone."),
    # Numbers in a known form.
    ("Write to anna.b@example.co.uk.", "Write to an address."),
    ("Call +49 170 1234567 or 555-123-4567.", "Call a phone number or a phone number."),
    ("SSN 123-45-6789", "SSN a number"),
    ("IBAN DE89 3704 0044 0532 0130 00", "IBAN a number"),
    ("card 4111 1111 1111 1111", "card a number"),
    ("passport number C01X00T47", "passport number withheld"),
    # Where, for whom, how much.
    ("She lives at 12 Baker Street, Apt 4.", "She lives at an address."),
    ("in der Lindenstraße 5", "in der an address"),
    ("He works at Google and earns $120,000 a year.", "He works at a company and earns some money a year."),
    ("She was fired by IBM.", "She was fired by a company."),
    ("It cost 40k euros.", "It cost some money."),
    # Chinese.
    ("我朋友王伟今天来了", "我朋友今天来了"),
    ("同事李小明说他要走", "同事说他要走"),
    ("他妈妈叫李秀英，很好", "他妈妈，很好"),
    ("张伟告诉我他离开了", "某人告诉我他离开了"),
    ("王老师说我写得好", "某人说我写得好"),
    ("小王说他累了", "某人说他累了"),
    ("她在阿里巴巴公司工作，月薪两万元", "她在一家公司工作，月薪一些钱"),
    ("电话13812345678", "电话一个电话号码"),
    ("身份证110101199003078515", "身份证一个号码"),
    ("上海市浦东新区世纪大道100号", "一个地址"),
    ("他住在上海市浦东新区世纪大道100号3楼", "他住在一个地址"),
    ("他说，李小明觉得冷。", "他说，某人觉得冷。"),
    ("花了十五块，还剩一块钱", "花了一些钱，还剩一些钱"),
]  # fmt: skip

LEFT_ALONE = [
    "I told my mother about it, and my boss said nothing.",
    "He uses Python and works with Claude on the parser.",
    "Mum said no. Nobody called. This said more than that.",
    "commit 1234567 took 35 minutes on 2026-11-30 at 10:20:30",
    "version 1.2.3-4 at 10.0.0.1:8080 on port 443",
    "He finished 3 of 12 tests in April; 100 200 300 were left.",
    "I was in Paris on Monday.",
    "她今天很开心，我们聊了三个小时。",
    "朋友说他很累。",
    "我们说好了明天再来。",
    "他顺口说起妈妈住院，马上又说回发票。",
    "于是说好再来，高兴地说了一晚上。",
    "许多人说难，周围人说不难，任何同学都说难。",
    "他妈妈马上打来电话。",
    "程序说内存不够，周末说吧。",
    "我们给它起名叫「另一块奶酪」，一块去买三块蛋糕。",
]


@pytest.mark.parametrize(("text", "general"), MADE_GENERAL)
def test_who_and_where_and_how_much_is_made_general(text, general):
    assert generalise(text) == general


@pytest.mark.parametrize("text", LEFT_ALONE)
def test_what_tells_of_nobody_stays_letter_for_letter(text):
    assert generalise(text) == text


def test_the_persons_own_name_stays_and_that_of_others_beside_it_goes():
    told = "Sam said that my friend Anna is late."
    assert generalise(told, ["Sam"]) == "Sam said that a friend is late."
    assert generalise(told, ["", "Sam"]) == generalise(told, ["Sam"])


_PIECES = [text for text, _ in MADE_GENERAL] + LEFT_ALONE
TEXTS = st.lists(
    st.one_of(st.sampled_from(_PIECES), st.text(max_size=20), st.sampled_from(list(" .,\n-+$"))),
    max_size=8,
).map(" ".join)


@settings(max_examples=100, deadline=None)
@given(TEXTS)
def test_doing_it_twice_changes_nothing_more(text):
    once = generalise(text)
    assert generalise(once) == once


@pytest.mark.parametrize(
    "unit", ["a", "A a ", "张", "Anna ", "1-", "1 ", "my friend ", "+1 ", "A@"]
)
def test_the_time_grows_with_the_length_alone(unit):
    # A pattern that went back over everything would never end here.
    assert generalise(unit * 5_000) is not None
