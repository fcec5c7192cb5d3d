"""The words by which `tidy` knows a rule of conduct, a section's title and a figure of speech."""

from __future__ import annotations

import re
from typing import Final

SENTENCE_END: Final = (".", "!", "?", "…", "。", "！", "？")

_DO = (
    "answer|apologi[sz]e|ask|be|call|check|explain|give|keep|let|listen|make sure|offer|remember to"
    "|remind|reply|respond|say|show|skip|speak|start|stay|stop|talk|tell|treat|use|wait|write"
)
# A trait of a person is in the third person, so its verbs end in s: "keeps late hours" stays.
ACTS: Final = re.compile(
    rf"\A\W*(?:please\W+)?(?:(?:do not|don['’]t|avoid)\b|(?:(?:always|never)\s+)?(?:{_DO})\b)"
    r"|\bI (?:should|must|ought|shouldn['’]t|mustn['’]t)\b"
    r"|\b(?:wants?|expects?|asked|asks|needs|prefers) me (?:not )?to\b|\bprefers? (?:that )?I\b"
    r"|\A\W*(?:请|不要|别|不用|不必|应该|应当|记得|务必|避免|千万)"
    r"|我(?:应该|应当|必须|不该|不要|别)|(?:希望|想要|要求|请|让|叫)我",
    re.IGNORECASE,
)
_HEADINGS = (
    "abstract|agenda|appendix|background|changelog|conclusions?|contents|faq|getting started"
    "|installation|introduction|license|next steps|notes|open questions|overview|readme"
    "|requirements|summary|table of contents|to-?dos?|usage"
    "|目录|概述|概览|总结|小结|简介|引言|背景|结论|下一步|待办(?:事项)?|附录|前言"
)
TITLE: Final = re.compile(
    r"\A\s*(?:#|\d+(?:\.\d+)*(?:[.)]\s+|、)\S|\d+(?:\.\d+)+\s+(?-i:[A-Z])"
    r"|第[\d一二三四五六七八九十百]+[章节部分步篇]"
    r"|(?:chapter|section|part|step|phase|appendix)\s+(?:\d+|[ivx]+|[a-z])\s*(?:[:.–-]|\Z)"
    rf"|(?:{_HEADINGS})\s*\Z)|[:：]\s*\Z",
    re.IGNORECASE,
)
FIGURE: Final = re.compile(
    r"\b(?:like|as if|as though)\s+(?:a|an)\s|\bas\s+(?!soon|well|long|far|much|many|usual)\w+\s+as\b"
    r"|\ba\s+(?:sea|storm|ocean|river|wall|mountain) of\b"
    r"|\A\s*(?:就?像|好像|好似|如同|仿佛|宛如|犹如)|(?:一样|似的|一般|般的)\s*\Z",
    re.IGNORECASE,
)
