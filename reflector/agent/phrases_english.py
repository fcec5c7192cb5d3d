"""What people say in English when they mean it for good, and what only looks like it."""

from __future__ import annotations

import re

from reflector.agent.phrases import Phrases, cue, searched

_START = r"(?:^|[;:,] |[-–—] |\b(?:and|so|but) )(?:also |please )?"
_NOT_A_RULE = (
    r"(?!(?:mind|do (?:that|this|it)|better|a|an|the|been|was|were|is|are|on|in|at|had|got|happens?|again|seen|heard|"
    r"did|worked|that|this|works|none|null|nil|undefined|true|false|empty|to)\b)(?!\w*[^su\W]s\b)"
)
_TRIAL = r"(?!get|see|hit|reach|have|has|had|receive|end|fail|crash|run into|lose|got|saw|forget)"
_IMPERATIVE = (
    r"(?:use|don'?t|do not|always|never|please|you|run|keep|write|ask|make sure|put|add|call|"
    r"prefer|avoid|stop|check|only|name|commit|push|answer|reply|respond|no)\b"
)
_NO = (
    r"(?:(?:hmm+|well|sorry|wait|oh|uh),? )?(?:no+|nope|nah|wrong|incorrect|not quite|actually|"
    r"that'?s (?:wrong|incorrect|not (?:right|correct|true|how))|"
    r"you (?:misunderstood(?: me)?|(?:got|have) (?:it|that|this) wrong)|"
    r"i(?:'ve)? (?:already )?(?:told you|said)(?: (?:already|before|that|this))*)"
)
_HABIT = (
    r"(?:use|call|name|write|deploy|ship|target|support|store|keep|format|indent|always|never|"
    r"don'?t|do not|only)\b(?! (?:it|this|that|them|need|have to|want|know|think)\b)"
)
_THING = r"(?!(?:not|a|an|this|that|the|these|those|it|them|existing|more|fewer|less|\d+)\b)[^,;.]{1,60}?"
_NOTHING_NEW = (
    r"(?!(?:a|an|this|that|it|them|these|those|existing|one|more|"
    r"the (?:same|other|new|old|one|current|existing|first|second))\b)"
)
_LASTING = r"(?!.*\b(?:fail(?:s|ing|ed)|broken|crash\w*|down|red|again|wip|late|lunch)\b)"

_NOISE = frozenset(
    (
        "a",
        "an",
        "the",
        "to",
        "of",
        "for",
        "in",
        "on",
        "at",
        "is",
        "are",
        "be",
        "it",
        "its",
        "we",
        "you",
        "i",
        "our",
        "your",
        "my",
        "this",
        "that",
        "with",
        "and",
        "or",
        "please",
        "always",
        "never",
        "use",
        "uses",
        "using",
        "do",
        "don't",
        "dont",
        "not",
        "no",
        "ever",
        "from",
        "now",
        "should",
        "must",
        "will",
        "prefer",
        "want",
        "like",
        "here",
        "also",
        "just",
        "than",
        "rather",
        "instead",
        "over",
        "stop",
        "avoid",
    )
)

ENGLISH = Phrases(
    cues=(
        cue(
            "decision",
            r"\b(?:we|i(?=(?:'ve| have)? decided (?:against|on|that|to (?:use|keep|stay|go|drop))\b)|team|"
            r"everyone)(?:'ve| have| has)?(?: now| just| all| already| finally)? "
            r"(?:decided|agreed|settled on|opted|chosen|chose|standardi[sz]ed on|committed to)\b"
            r"(?! (?:nothing|later|the wrong|against (?:it|that|this)\b|on (?:the|this|that)\b|"
            r"to (?:take|have|wait|leave|postpone|meet|talk|look|skip)\b))",
            r"\bwe(?:'re| are) (?:going with|sticking (?:with|to)|standardi[sz]ing on|"
            r"(?:moving|switching) to|dropping)\b",
            r"^(?:final )?deci(?:sion|ded)(?: is)?[:,–—-]\s*(?P<say>.+)",
            r"\bit(?:'s| is| has been) (?:decided|settled)\b",
            r"\blet'?s settle (?:it|this|that)[:,–—-]\s*(?P<say>.+)",
        ),
        cue(
            "correction",
            rf"^{_NO}[\s,:;.!–—-]+(?P<say>(?:please )?(?:always |never )?(?:use|put|call) {_NOTHING_NEW}.+)",
            rf"^{_NO}[\s,:;.!–—-]+(?P<say>(?:please )?(?:always|never)\b.+)",
            rf"^{_NO}[\s,:;.!–—-]+(?P<say>(?!it(?:'s| is| was) (?:the|a|an|in|from|because|about)\b|"
            r"let'?s\b|i (?:want|need|meant)\b|.*\b(?:should|needs? to|has to|have to)\b)"
            r".+(?:, ?(?:and )?not\b|\brather than\b|\binstead of\b).+)",
            rf"^{_NO}[\s,:;.!–—-]+(?P<say>(?:in this \w+,? )?we (?:now |only |already )?{_HABIT}.+)",
            rf"^{_NO}[\s,:;.!–—-]+(?P<say>(?!(?:it|this|that|there|they|he|she|i)\b)\w.*\b(?:(?:is|are|'s) "
            r"(?:always|never|called|named|spelled)|must|should (?:always|never|go|live)|"
            r"belongs?|lives? in|starts? (?:at|with)|can(?:'?t|not) use)\b.+)",
            rf"^{_NO}[\s,:;.!–—-]+(?P<say>(?P<new>[\w.+-]+),? not (?P<old>[\w.+-]+))[.!]*$",
        ),
        cue("preference", r"\bremember to (?P<say>(?:always|never)\b.+)", standing=True),
        cue(
            "fact",
            r"(?:^|[,;:] |\b(?:and|also|but|so) )(?:please )?remember"
            r"(?:(?: this| the following)?:|,? that\b(?! to)|,?(?= (?:my|our|we|i|always|never)\b))"
            r"[:,]?\s*(?P<say>.+)",
            r"^(?:please )?(?:keep|bear) in mind(?: that\b|[:,])\s*(?P<say>.+)",
            r"^(?:please )?(?:keep|bear) in mind (?P<say>.+ (?:is|are|has|have|must|can(?:'?t|not)?|"
            r"doesn'?t|don'?t|runs?|uses?) .+)",
            r"^(?:fyi|for the record|for (?:your|future) (?:info(?:rmation)?|reference)|"
            r"just so you know|be aware(?: that)?|please note(?: that)?|"
            r"note(?=: .*\b(?:we|our|always|never)\b)|"
            r"note (?:to self|for (?:later|the future)))[\s,:;–—-]+"
            + _LASTING
            + r"(?P<say>(?!i(?:'m|'ve)?\b)[^\s].+)",
            r"^(?P<say>.{8,}?)[\s,;.–—-]+(?:so )?(?:please )?(?:keep|bear)(?: (?:that|this|it))? in mind[.!]*$",
            r"^(?P<say>.{8,}?)[\s,;.–—-]+(?:so )?(?:please )?remember (?:that|this|it)[.!]*$",
            r"(?:^|[,;:] |\b(?:and|also|but|so) )(?:please )?(?:don'?t|do not|never) forget"
            r"(?: that\b|[:,]|(?= (?:we|our|my)\b))\s*(?P<say>.+)",
        ),
        cue(
            "correction",
            rf"(?:{_START}|\b(?:we|(?:you|we) (?:should|must)) )"
            rf"use (?P<new>{_THING}),? "
            rf"(?:instead of|rather than|over|(?:and )?not|never) (?P<old>[^,;.]{{1,60}})",
            rf"(?:{_START}|\bwe )use (?P<new>{_THING})[,;.–—-]+ ?"
            r"(?:and )?(?:don'?t|do not|never) use (?P<old>[^,;.]{1,60})",
            rf"{_START}(?:don'?t|do not|stop|never) us(?:e|ing) (?P<old>[^,;]{{1,60}}?)"
            r"[,;.–—-]+ ?(?:but |please |always )*use (?P<new>[^,;.]{1,60})",
            rf"\bwe {_HABIT}[^;]{{1,100}}, not (?!once|twice|two|three|\d)",
            r"^not (?P<old>(?!that|this|the|yet|sure|now|it|a|so|really|bad)[\w.+-]+), "
            r"(?:but )?(?P<new>[\w.+-]+)(?=[.,;!]|$)",
            r"\bit'?s (?:called|named|spelled|spelt|pronounced) "
            r"(?!(?:from|by|with|in|on|twice|once|when)\b)[^;]{1,60}, not\b",
            r"^(?!(?:it|this|that|he|she|they)\b)\w+(?: [\w-]+){0,3} "
            r"(?:goe?s?|lives?|belongs?) (?:in|into|under|to) [^;]{1,80}, not\b",
        ),
        cue(
            "preference",
            r"\b(?:from (?:now|here|today) on(?:wards?)?|going forward|as a (?:general )?rule(?! of thumb)|"
            r"at all times|under no circumstances)\b(?!,? (?:it|this|that|with|we'll see)\b)",
            rf"\b(?:in (?:the )?future|for (?:the )?future|next time)[,:]? {_IMPERATIVE}",
            r"\bin general,? (?:i|please|keep|use|prefer|avoid|don'?t)\b",
            r"\bin (?:this|our) (?:repo|repository|project|code ?base|team|company),? "
            rf"(?:we {_HABIT}|(?:you|please|always|never|don'?t|use|keep|do not)\b)",
            r"^(?:whenever|every time|each time|any ?time) (?:you (?!(?:are|get|have)\b)|we )[^,]{1,120}, "
            r"(?!(?:the|it|this|that|there|i|my|a|nothing|everything|we get|they|some)\b)",
            r"^(?:when|if|before|after) (?:you (?!(?:are|finish|get|have|start|begin|continue)\b)|we |\w+ing )[^,]{1,120}, "
            r"(?:please )?(?:always|never|don'?t ever|make sure)\b",
            r"\bi want you to (?:always|never)\b",
            r"\bi want you to\b.*\b(?:whenever|every time|each time|in general)\b",
            r"^for (?:all )?new \w+,? (?:please )?(?:always|never|use|prefer|don'?t)\b",
            standing=True,
        ),
        cue(
            "preference",
            rf"{_START}(?:always|never(?: ever)?) {_NOT_A_RULE}[a-z\x00]",
            rf"\b(?:you|we) (?:should|must|need to|have to) (?:always|never) {_TRIAL}",
            rf"\bwe (?:always|never|usually|generally|typically) {_TRIAL}",
            r"\bmake sure (?:to |that |you |we )*(?:always|never)\b",
            rf"{_START}(?:don'?t|do not) ever\b",
            rf"{_START}prefer (?!(?:this|that|it|the)\b)[^;]{{2,80}} (?:over|to|rather than)\b",
            r"^we (?:don'?t|do not|no longer) (?:use|do|write|want) (?!(?:it|this|that|the|to)\b)\w",
            r"^(?:commit messages?|docstrings?|comments|branch(?:es| names?)|variable names?|"
            r"pr (?:titles?|descriptions?)|file ?names?) (?:should|must)\b",
            r"^use [^,;]{2,80} everywhere\b",
            r"^call me \w+[.!]*$",
            rf"{_START}(?:don'?t|do not) (?!worry|think|know|bother|see)[^,;]{{2,120}}"
            r"\b(?:ever|again|any ?more|every time|each time|in (?:this|our) "
            r"(?:repo|repository|project|code ?base))\b",
            r"^(?:don'?t|do not) use [^,;]{1,80},? ever\b",
            r"^(?:please )?(?:don'?t|do not) (?:run|use|add|write|commit|push|log|edit|explain|"
            r"refactor|format|generate|put) (?!(?:the|this|that|it|them|any of|yet)\b(?! (?:full|whole)))"
            r"[^\s,;]+ [^\s,;]+[^,;]{0,80}$",
            r"^(?:please )?(?:don'?t|do not) run the (?:full|whole)\b.+ only\b",
            r"\bi(?:'d| would)?(?: really| strongly| generally| usually| always| much| also)* "
            r"(?:prefer|rather)\b(?! (?:this|that|it|the|not|you)\b)",
            r"\bi(?: really| generally| usually| always| also)* (?:like|love)\b "
            r"(?!(?:this|that|it|the|how|your|what|them|these|those|where|when|to see)\b)",
            r"\bi(?: really| generally| usually| always| also)* "
            r"(?:hate|dislike|can'?t stand|don'?t like)\b"
            r"(?: it when)? (?!(?:this|that|it|the|to say|my|how|what)\b)",
            r"\bi (?:always|never|generally) want\b",
            r"\bmy preference is\b|\bi'm not a fan of\b",
            r"^(?:please )?(?:stop|avoid) (?!(?:the|this|that|it|here|for|after|at|and|now|being|touching|breaking|changing)\b)"
            r"\w+ing (?!(?:the|this|that|it|now)\b)(?!.*\bnow\b)\w",
        ),
    ),
    filler=re.compile(
        r"(?:(?:ok(?:ay)?|hi|hey|hello|please(?! note)|pls|and|also|but|so|oh|ah|well|hm+|btw|by the way|"
        r"thanks|thank you|great|cool|alright|look|yes|yeah|yep|sure|"
        r"(?:just )?one (?:more |last )?thing|oh and|another thing|once more|"
        r"(?:as|like) I (?:already |just )?(?:said|mentioned|told you)(?: before| earlier| already)?"
        r")[\s,:;.!–—-]+)*",
        re.IGNORECASE,
    ),
    opener=searched(rf"^{_NO}[\s,:;.!–—-]*$"),
    tail=searched(
        r"^(?:so |and )?(?:please )?(?:(?:keep|bear) (?:that|this|it) in mind|"
        r"remember (?:that|this|it)|don'?t forget(?: (?:that|this|it))?)[.!]*$"
    ),
    question=searched(
        r"[?？]\W*$",
        r"^(?:and |so |or |but )?(?:what|why|how|where|who|which|is|are|do (?!not)|does|did|can|could|should|"
        r"would|will|shall|has|have (?:you|we)|isn'?t|aren'?t|doesn'?t|didn'?t|can'?t (?:you|we)|"
        r"am i|won'?t)\b",
        r",? (?:isn'?t|aren'?t|doesn'?t|right|don'?t) (?:it|we|you)$|, (?:right|correct|or)$|"
        r"\b(?:what|which) (?:does|do|is|are|of)\b[^,;]*$|"
        r"\bhow (?:big|many|much|long|often|should|do|can)\b",
    ),
    hedge=searched(
        r"\b(?:maybe|perhaps|might|could|wonder|suppose|imagine|probably|not sure|unsure|i think|"
        r"i guess|i believe|thinking (?:about|out loud|of)|what if|considering|in theory|"
        r"i was going to|let me think|haven'?t (?:yet )?decided|not (?:yet )?decided|possibly|"
        r"it would|hypothetically|assuming)\b",
        r"\bwould\b(?! (?:rather|prefer|like))",
        r"^(?:if|unless)\b(?! (?:you|we)\b)",
    ),
    dropped=searched(
        r"\bnever ?mind\b|\bscratch that\b|\bjust kidding\b|\bforget (?:it|what i)\b|"
        r"\bignore (?:that|this|my)\b|\bas (?:far as|if) i\b"
    ),
    reported=searched(
        r"\b(?:he|she|they|someone|somebody|reviewers?|colleagues?|boss|docs?|readme|ticket|issue|"
        r"article|tutorial|message|log|linter|warning|error|people|users|customers)"
        r"(?: \w+){0,2}? (?:says?|said|wrote|writes|told|tells|states?|claims?|prefers?|likes?|"
        r"wants?|always|never|complains?)\b",
        r"\baccording to\b|\bthat says\b",
    ),
    one_off=searched(
        r"\b(?:for now|this time|for the moment|right now|at the moment|just now|temporarily|"
        r"for today|until i|(?:just )?this once|(?:when|once) you(?:'re| are) (?:done|finished)|"
        r"when (?:this|it|that)(?:'s| is) done|"
        r"before you (?:push|commit|merge|finish)(?: (?:this|that|it)\b|[.!]*$)|"
        r"(?:this|that) (?:file|branch|commit|pr|call|function|test|line|one|version|variable|method|class|"
        r"script|step|run|task|session|change|approach|ticket)|yet|instead of the|"
        r"(?:the )?(?:first|second|third|last|other|previous|latter|former)(?: one)? "
        r"(?:option|file|version|approach|branch|variant|solution|idea|test|message|commit|way|"
        r"method|suggestion|instead|one|better)|the other one|option \w)\b",
        r"\b(?:bug|problem|issue|error|crash|failure|cause|culprit|reason|fix) (?:is|was|comes)\b",
        r"\b\d+ \w+ (?:instead of|rather than|not) \d+\b|\bstuck\b",
        r"\b(?:still|i didn'?t|i haven'?t|no changes?|is down|just (?:pushed|merged|fixed))\b",
        r"\bfirst\b.*\bthen\b|\bthen we\b|\blike (?:this|that)[.!]*$|(?<!from )\btoday\b(?! on)",
        r"(?<!just )\b(?:do|use|touch|change|like|want|run) (?:that|this|it|them)(?: again| any ?more)?[.!]*$",
        r"^(?:that|this|it)(?:'s| is| should be| looks| works)? "
        r"(?:fine|ok|okay|enough|good|right|correct|great|all)\b",
    ),
    task=searched(
        r"^(?:please )?(?:fix|change|make (?!sure)|add|implement|write|create|rename|revert|move|"
        r"set|update|delete|remove|build|refactor|generate|show|print|continue|try|check|look|"
        r"merge|open|close|rebase|link|list|explain|review|investigate|let'?s (?!settle)|replace|"
        r"convert|go|give|find|extract|port)\b",
        r"^i want you to (?!always|never)",
        r"^(?:the|this|that) (?:function|method|parser|class|button|component|page|endpoint|"
        r"script|command)\b",
    ),
    negative=searched(
        r"\b(?:never|don'?t|do not|avoid|stop|no longer|without|hate|dislike|against)\b"
    ),
    noise=_NOISE,
    aside=(
        searched(
            r"(?P<new>[\w\x00][\w\x00.+/#@-]{0,60})(?: here)?,? (?:and )?not (?:in |on |at )?"
            r"(?P<old>[\w\x00][\w\x00.+/#@-]{0,60})"
        ),
    ),
)
