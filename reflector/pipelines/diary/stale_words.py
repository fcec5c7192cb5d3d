"""The words for time that go stale: what `yesterday` meant is wrong a week later.

Habits and lengths stay: `every Monday`, `for two weeks`, `mornings`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final


def _any(parts: Iterable[str], *, cased: bool = False) -> re.Pattern[str]:
    return re.compile("|".join(parts), 0 if cased else re.IGNORECASE)


_NUMBER = (
    r"(?:\d{1,4}|an?|one|two|three|four|five|six|seven|eight|nine|ten|a few|several|some|a couple of"
    r"|many)"
)
_UNIT = r"(?:second|minute|hour|day|night|week|weekend|fortnight|month|year|decade)s?"
_WEEKDAY = r"(?:mon|tues|wednes|thurs|fri|satur|sun)day"
_PART = r"(?: (?:early |late )?(?:morning|noon|afternoon|evening|night))?"
_MONTH = (
    r"(?:January|February|March|April|May|June|July|August|September|October|November|December"
    r"|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec)"
)
_DATE = (
    r"\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}(?::\d{2})?Z?)?"
    rf"|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}\b(?:,? \d{{4}}\b)?"
    rf"|{_MONTH}\.? \d{{1,2}}(?:st|nd|rd|th)?\b(?:,? \d{{4}}\b| (?!\w)|(?! \w))"
    rf"|{_MONTH} \d{{4}}\b"
)
_FULL = (
    rf"(?<![\w/.-])(?:(?i:on|in|since|until|by|from|before|after) (?:the )?)?(?:{_DATE})"
    r"(?![\w/-])(?!\.\w)"
)
_DAY = (
    r"the day (?:before yesterday|after tomorrow)|the other (?:day|night|week)"
    rf"|(?:today|tomorrow|yesterday){_PART}|tonight"
    rf"|this (?:very )?(?:morning|afternoon|evening|week|weekend|month|year|{_WEEKDAY}{_PART})"
    rf"|(?:last|next) (?:night|week|weekend|month|year|{_WEEKDAY}{_PART})"
    rf"|{_NUMBER} (?:or (?:two|three|so) )?{_UNIT}(?: or (?:two|three|so))? ago|(?:earlier|later) (?:today|tonight)"
    r"|just now|a moment ago|not long ago|long ago|ages ago|a (?:long |short |little )?while (?:ago|back)"
    r"|(?<!least )(?<!most )(?<!more )recently"
)
_BEFORE = r"(?:(?:until|till|since|from|by|before|after|as of|starting|only|just) )?"
_CLOCK = r"(?:,? at \d{1,2}(?::\d{2})?(?: ?[ap]m)?)?"
_ENGLISH = (
    rf"\b{_BEFORE}(?:{_DAY}){_CLOCK}\b(?!['’]s)(?: (?:on|onwards?)\b(?= *[,.;!?]))?",
    rf"\bon {_WEEKDAY}{_PART}\b(?!s)",
)
_DE_PART = r"(?: (?:früh|morgen|vormittag|mittag|nachmittag|abend|nacht))?"
_DE_NEAR = r"(?:letzte|nächste|vorige|diese|kommende)[nrs]?"
_DE_SPAN = r"(?:woche|monat|jahr|nacht|wochenende|(?:mon|diens|donners|frei|sams|sonn)tag|mittwoch)"
_DE_NUMBER = r"(?:\d{1,4}|einem|einer|zwei|drei|vier|fünf|sechs|ein paar|einigen|wenigen)"
_DE_UNIT = r"(?:minuten?|stunden?|tag(?:en)?|wochen?|monat(?:en)?|jahr(?:en)?)"
_GERMAN = (
    rf"\b(?:seit |bis |ab |erst )?(?:heute|gestern|vorgestern|übermorgen){_DE_PART}\b",
    rf"\b{_DE_NEAR} {_DE_SPAN}\b",
    rf"\bvor {_DE_NUMBER} {_DE_UNIT}\b",
    r"\b(?:neulich|kürzlich|vorhin|soeben)\b",
)
# `Morgen` is the morning, `morgen` tomorrow, but for the end of a greeting or `heute morgen`.
_GERMAN_CASED = (r"\b(?<!guten )(?<!heute )(?<!gestern )(?:bis )?morgen(?: (?:früh|Abend))?\b",)

_ZH_NUMBER = r"(?:[0-9]{1,4}|[一二两三四五六七八九十几数]{1,4}|半)"
_ZH_PART = r"(?:一?大?清?早上?|凌晨|清晨|上午|中午|下午|傍晚|晚上|夜里|半夜)?"
# Not in 说明天气, 然后天黑, 以前天天, 这周围, 最近邻: what stands beside a word can make another one.
_ZH_WEEK = r"(?:周(?![围边期转折全到密])|星期|礼拜)"
_ZH_WEEKDAY = r"(?:[二三四五六天]|一(?![个点件次直起定样般切边会])|日(?![子常程夜]))?"
_ZH_UNIT = r"(?:个?(?:小时|钟头|月|星期|礼拜)|分钟|天|周|年)"
_CHINESE_WORDS = (
    rf"大?(?<![以之提眼])前天(?!天){_ZH_PART}|大?(?<![然之以最随])后天(?!天){_ZH_PART}"
    rf"|(?:(?<![说证表发声])明天|[今昨]天){_ZH_PART}|[今昨明]日(?!头)|[今昨明]晚上?|今早|今晨|昨夜"
    r"|前几天|前些天|前两天|前阵子|前段时间|这几天|这两天|这阵子|刚才|刚刚(?!好)|方才|不久前"
    r"|最近(?![邻的使])|近来|近日"
    rf"|(?:上上|下下|上|下|这|本)个?(?:周末|{_ZH_WEEK}{_ZH_WEEKDAY}{_ZH_PART})"
    r"|(?:上上|下下|上|下|这)个月|本月|今年|去年|明年|前年|后年"
    rf"|{_ZH_NUMBER}多?{_ZH_UNIT}(?:以前|之前|前)(?![往后进端台面])"
    r"|(?:[0-9]{4}年)?[0-9]{1,2}月[0-9]{1,2}[日号]|[0-9]{4}年"
)
_CHINESE = (
    rf"(?:从|自从|直到|到|截至|在)?(?:{_CHINESE_WORDS})(?:开始|起|为止|以来)?(?!的)[，、,]?",
)
_JAPANESE_WORDS = (
    r"一昨日|おととい|明後日|あさって|昨日|きのう|今日|きょう|明日|あした|今朝|昨夜|昨晩|今夜|今晩"
    r"|先々週|先週|今週|来週|先月|今月|来月|昨年|去年|今年|来年|さっき|先ほど|先日|最近"
    r"|[0-9一二三四五六七八九十数]{1,4}(?:日|週間|か月|ヶ月|年|時間|分)前"
)
_JA_PARTICLES = r"(?:から|まで)?(?:は|も|に(?!つ))[、,]?|(?:から|まで)[、,]?"
_JAPANESE = (rf"(?:{_JAPANESE_WORDS})(?:{_JA_PARTICLES}|(?!の)[、,]?(?=[\u3041-\u30ff]))",)
_KOREAN_WORDS = (
    r"오늘|어제|내일|그저께|그제|모레|지난 ?(?:주|달|해|번)|이번 ?(?:주|달)|다음 ?(?:주|달|해)"
    r"|작년|올해|내년|방금|아까|최근|[0-9]{1,4} ?(?:일|주|달|개월|년|시간|분) ?전"
)
_KOREAN = (rf"(?<![가-힣])(?:{_KOREAN_WORDS})(?:에는|에서|부터|까지|에|은|는|도)?(?![가-힣]),?",)


@dataclass(frozen=True, slots=True)
class Rule:
    """What is taken out, or with `by` replaced: a subject, or what stands before a noun.

    `wide` rules are about scripts without blanks. With `hints` a text that holds none of them, in
    lower case, need not be searched.
    """

    pattern: re.Pattern[str]
    by: str = ""
    wide: bool = False
    hints: tuple[str, ...] = ()

    def concerns(self, text: str) -> bool:
        """Tell whether a text could hold any of this."""
        if self.wide:
            return not text.isascii()
        low = text.lower() if self.hints else ""
        return not self.hints or any(hint in low for hint in self.hints)


_VERB = r"(?: (?:is|was|will|has|had|went|felt|feels|turned|would|might|could)\b)"
# Each of the words holds one of these.
_HINTS = ("day", "tomorrow", "night", "this ", "last ", "next ", "ago", "other ", "now", "moment")
_MORE = ("recently", "a while", "a long while", "a short while", "a little while")

RULES: Final = (
    Rule(re.compile(rf"\b(?:{_DAY})(?={_VERB})", re.IGNORECASE), "that time", hints=_HINTS + _MORE),
    Rule(re.compile(rf"\b(?:{_DAY})['’]s\b", re.IGNORECASE), "the", hints=("'s", "’s")),
    Rule(re.compile(rf"(?:{_CHINESE_WORDS})的"), "那时的", wide=True),
    Rule(re.compile(rf"(?:{_JAPANESE_WORDS})の"), "その時の", wide=True),
    Rule(re.compile(r"(?<![가-힣])(?:오늘|어제|내일|그저께|모레|아까)의"), "그때의", wide=True),
    Rule(_any((_FULL,), cased=True), hints=tuple("0123456789")),
    Rule(_any(_ENGLISH), hints=_HINTS + _MORE),
    Rule(_any(_GERMAN_CASED, cased=True), hints=("morgen",)),
    Rule(_any(_GERMAN)),
    Rule(_any(_JAPANESE), wide=True),
    Rule(_any(_CHINESE), wide=True),
    Rule(_any(_KOREAN), wide=True),
)
"""In their order: what is replaced comes before what is taken out."""

JOINED: Final = re.compile(r"[\s,，、:：;]+")
"""What joined a word to the rest of its sentence, and means nothing without it."""
