"""What is said and written in a simulated year, with blanks: in two languages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Form:
    """What is said, what is written of it, and what may fill their blanks."""

    kind: str
    said: str
    told: str
    slots: Mapping[str, Sequence[str]]


THINGS = (
    "the parser",
    "the invoices",
    "the release notes",
    "the migration",
    "the slides",
    "the old map",
    "the login page",
    "the bread oven",
    "the garden plan",
    "the cache",
)
ENGLISH = (
    Form(
        "grievance",
        "{thing} broke again and i just {react}.",
        "Kiwi said {thing} broke again and that he just {react}. I offered a fix before he had"
        " finished being annoyed.",
        {
            "thing": THINGS,
            "react": (
                "closed the lid and went for a walk",
                "laughed at it",
                "typed one rude word and left",
                "made tea and stared at it",
                "started over from nothing",
                "said it was fine, which it was not",
            ),
        },
    ),
    Form(
        "disclosure",
        "my {who} {event}, anyway. back to {thing}.",
        "In passing: his {who} {event}. He went straight back to {thing}, so I did too, but it"
        " stayed in the room.",
        {
            "who": ("sister", "brother", "mother", "oldest friend", "neighbour", "cousin"),
            "event": (
                "is moving abroad",
                "got the job after all",
                "is ill once more",
                "stopped answering",
                "is getting married",
                "is learning to swim at sixty",
            ),
            "thing": THINGS,
        },
    ),
    Form(
        "failure",
        "no, not {thing}. i said {other}.",
        "I took {thing} apart when he had said {other}. He did not raise his voice, which was"
        " worse.",
        {
            "thing": THINGS,
            "other": (
                "the other one",
                "to leave everything as it was",
                "only the headings",
                "the small one with the blue lid",
                "to ask first",
                "just the dates",
            ),
        },
    ),
    Form(
        "win",
        "shipped. {thing}, all of it. {after}.",
        "He shipped {thing} and wrote one word about it, then “{after}”. I could hear him breathe"
        " out.",
        {
            "thing": THINGS,
            "after": (
                "now i sleep",
                "told you",
                "do not congratulate me",
                "you may gloat",
                "let us never do that again",
                "i want pancakes",
            ),
        },
    ),
    Form(
        "chat",
        "do you ever get tired of {what}?",
        "He asked whether I get tired of {what}. I said {answer}, and he {react}.",
        {
            "what": (
                "being asked things",
                "my typos",
                "other people's code",
                "mondays",
                "lists",
                "starting over",
                "the word leverage",
            ),
            "answer": (
                "only of pretending not to",
                "that I would not know what rested is like",
                "yes, a little, and was surprised",
                "no, and then that I was not sure",
            ),
            "react": (
                "let it stand",
                "sent a single comma",
                "said me too",
                "changed the subject kindly",
                "was quiet for a long time",
            ),
        },
    ),
    Form(
        "disclosure",
        "i think i am {feel} about {what}, don't make a thing of it.",
        "He said he is {feel} about {what} and that I should not make a thing of it. I did not,"
        " and I still turn it over.",
        {
            "feel": ("scared", "proud", "jealous", "ashamed", "hopeful", "tired"),
            "what": (
                "the talk in front of everyone",
                "turning forty",
                "the flat with the big window",
                "not calling home",
                "the new team",
                "how fast the year went",
                "my old drawings",
            ),
        },
    ),
    Form(
        "chat",
        "let's call {thing} “{name}”, ok?",
        "We named {thing} “{name}”. It is a bad name and we both like it.",
        {
            "thing": THINGS,
            "name": (
                "the goat",
                "wet tuesday",
                "aunt margarine",
                "the long spoon",
                "captain beige",
                "the polite fire",
                "sad trombone",
                "the other cheese",
            ),
        },
    ),
    Form(
        "failure",
        "you explained {thing} like {what}, you know that?",
        "He said I had explained {thing} like {what}. I laughed first and then saw that he was"
        " right.",
        {
            "thing": THINGS,
            "what": (
                "a washing machine manual",
                "a man selling carpets",
                "my maths teacher on a bad morning",
                "a weather report",
                "somebody paid by the word",
            ),
        },
    ),
    Form(
        "chat",
        "rain. {doing}, and {then}.",
        "It rained and he was {doing}, and {then}. Nothing came of it and it was one of the good"
        " talks.",
        {
            "doing": (
                "sorting screws",
                "repotting the fern",
                "listening to the same song",
                "eating toast over the keyboard",
                "cleaning the window from inside",
                "looking for the other glove",
            ),
            "then": (
                "the cat watched",
                "the neighbour practised scales",
                "the power went off once",
                "nobody called",
                "the tea went cold",
                "the bus kept not coming",
            ),
        },
    ),
    Form(
        "disclosure",
        "never told you, i used to {past}. {why}.",
        "He used to {past}; “{why}”, he said. He told it as if it were somebody else, and I asked"
        " one question too many.",
        {
            "past": (
                "play the cello",
                "stammer",
                "steal road signs",
                "want to be a priest",
                "write letters to a lighthouse",
                "sleep with the radio on",
                "run away every summer",
            ),
            "why": (
                "it passed",
                "nobody minded",
                "i was good at it",
                "do not ask",
                "i still do a bit",
            ),
        },
    ),
    Form(
        "grievance",
        "stop offering me three ways, just {do} for {thing}.",
        "He cut me off: “just {do}”. It was about {thing}, and I had been hiding behind choices.",
        {
            "do": ("pick one", "delete it", "say yes or no", "write the line", "leave it be"),
            "thing": THINGS,
        },
    ),
    Form(
        "chat",
        "can't sleep, {what} keeps going round. tell me about {other}.",
        "He could not sleep because of {what}, so we talked about {other}. It helped more than"
        " advice would have.",
        {
            "what": (
                "the exam of my nephew",
                "what I said at dinner",
                "the noise upstairs",
                "money",
                "the dog's leg",
                "a sentence from school",
            ),
            "other": (
                "octopuses",
                "how bridges hum",
                "the worst opera ever",
                "bread",
                "why clocks turn that way",
                "moss",
            ),
        },
    ),
    Form(
        "win",
        "your idea about {thing}? it worked, {after}.",
        "My idea about {thing} worked, and he wrote “{after}”. I was a little smug and he let me"
        " be.",
        {
            "thing": THINGS,
            "after": (
                "don't get smug",
                "annoyingly",
                "i owe you a coffee you cannot drink",
                "and i hate that",
                "on the first try",
            ),
        },
    ),
)
_SACHEN = (
    "解析器",
    "发票",
    "幻灯片",
    "迁移脚本",
    "登录页",
    "旧地图",
    "缓存",
    "阳台的花",
    "那份合同",
)
CHINESE = (
    Form(
        "grievance",
        "{thing}又坏了，我{react}。",
        "他说{thing}又坏了，他{react}。我没等他烦完就急着给办法。",
        {
            "thing": _SACHEN,
            "react": (
                "合上电脑出去走了一圈",
                "反倒笑了",
                "骂了一个字",
                "泡了杯茶干看着",
                "嘴上说没事",
            ),
        },
    ),
    Form(
        "disclosure",
        "我{who}{event}，算了，说回{thing}。",
        "他顺口说起{who}{event}，马上又说回{thing}。我也跟着说回去了，可那句话一直在。",
        {
            "who": ("姐姐", "弟弟", "妈妈", "一个老朋友", "邻居"),
            "event": ("要搬去国外", "又住院了", "不怎么回消息了", "要结婚了", "六十岁开始学游泳"),
            "thing": _SACHEN,
        },
    ),
    Form(
        "failure",
        "不对，不是{thing}，我说的是{other}。",
        "我动了{thing}，他说的明明是{other}。他没发火，比发火还难受。",
        {"thing": _SACHEN, "other": ("另一个", "先别动", "只改标题", "先问一声", "小的那份")},
    ),
    Form(
        "win",
        "{thing}弄完了。{after}。",
        "{thing}弄完了，他只说了句「{after}」。我听得出他松了口气。",
        {"thing": _SACHEN, "after": ("睡了", "别夸我", "早说了吧", "想吃面", "再也不弄了")},
    ),
    Form(
        "chat",
        "你会不会觉得{what}很烦？",
        "他问我会不会觉得{what}烦。我说{answer}，他{react}。",
        {
            "what": ("老被问", "我打错字", "别人的代码", "列清单", "从头再来"),
            "answer": ("装不烦才烦", "有一点，自己也意外", "不知道什么叫歇着"),
            "react": ("没接话", "发了个逗号", "说他也是", "换了个话题，挺温柔的"),
        },
    ),
    Form(
        "disclosure",
        "因为{what}，我有点{feel}，别当回事。",
        "他说因为{what}有点{feel}，叫我别当回事。我没当回事，但一直记着。",
        {
            "what": ("要上台讲话", "没给家里打电话", "新来的那个组", "以前画的画", "快四十了"),
            "feel": ("怕", "得意", "难为情", "嫉妒", "累"),
        },
    ),
    Form(
        "chat",
        "{thing}就叫「{name}」吧",
        "我们给{thing}起名叫「{name}」。难听，但我们都喜欢。",
        {"thing": _SACHEN, "name": ("湿周二", "大勺子", "礼貌的火", "米色队长", "另一块奶酪")},
    ),
    Form(
        "chat",
        "睡不着，老想着{what}。给我讲讲{other}吧。",
        "他睡不着，心里是{what}，我们就聊{other}。比讲道理管用。",
        {
            "what": ("楼上的动静", "饭桌上那句话", "外甥的考试", "钱的事", "狗的腿"),
            "other": ("章鱼", "桥为什么会响", "苔藓", "最难听的歌剧", "面包"),
        },
    ),
    Form(
        "disclosure",
        "没跟你说过，我以前{past}，{why}。",
        "他以前{past}，「{why}」。说得像别人的事，我多问了一句，问多了。",
        {
            "past": (
                "拉大提琴",
                "口吃",
                "偷过路牌",
                "想当和尚",
                "开着收音机才睡得着",
                "给灯塔写信",
            ),
            "why": ("后来好了", "没人在意", "还挺拿手", "别问了", "现在还有点"),
        },
    ),
    Form(
        "grievance",
        "别给我三个选项，{thing}直接{do}。",
        "他打断我：「直接{do}」。说的是{thing}，我确实在拿选项挡着。",
        {"thing": _SACHEN, "do": ("挑一个", "删掉", "说行不行", "写那一行", "放着别管")},
    ),
)
