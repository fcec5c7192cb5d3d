"""Whether a person says that a turn is not to be recorded: control, obeyed without a model."""

from __future__ import annotations

import re
import unicodedata
from typing import Final

from reflector.pipelines.diary.judge import typed

_LONGEST: Final = 60
"""Characters of a sentence that can be nothing but this wish."""
_SENTENCES = re.compile(r"[.!?…,;:。！？，；：、\n]+|\s[-–—]+\s|[—–]")
_CLOSERS: Final = '"”」』»`'
_QUOTED = re.compile(rf"[\"“「『«`].*?[{_CLOSERS}]", re.DOTALL)
_ENDS = re.compile(r"^\W+|\W+$")

_THIS = r"(?:this|that|it|any of (?:this|that|it)|what I (?:just )?(?:said|told you|wrote)|this (?:one|part|turn|message)|that (?:one|part|last (?:one|part|bit))|this conversation)"
_DIARY = r"(?:(?:in(?:to)?|to|for) (?:your|the|my|our) (?:diary|journal|memory|memories|notes))"
_ENGLISH = (
    rf"(?:please )?(?:do not|don'?t|never) (?:you dare |ever )?(?:record|remember|write down|note down|note|jot down|journal) {_THIS}(?: down)?(?: {_DIARY}| anywhere)?",
    r"(?:please )?(?:do not|don'?t|never) (?:record|write down|note down|journal) anything",
    rf"(?:can|could|would|will) you (?:please )?not (?:record|remember|write down|note down|note) {_THIS}(?: {_DIARY})?",
    rf"(?:please )?(?:do not|don'?t|never) (?:write|put|note|save|store|keep|log|add|take) {_THIS}(?: down)?(?: {_DIARY})",
    rf"(?:please )?(?:do not|don'?t|never) (?:write|take|put) {_THIS} down(?: anywhere)?",
    rf"(?:please )?(?:leave|keep) {_THIS} (?:out of|off) (?:your|the|my|our) (?:diary|journal|memory|memories|notes|records?)",
    r"(?:this|that)(?: is|'s)? (?:strictly )?off the record",
    r"(?:strictly )?off the record",
    r"no need to (?:record|remember|write down) (?:this|that|any of this|any of that)",
)
_ZH_THIS = r"(?:这|那|這)(?:个|個|些|条|條|段|句|句话|件事|次|轮|輪|部分|段话|些话|事|[段次](?:对话|對話))?"
_ZH_NOT = r"(?:请|麻烦|請)?(?:你)?(?:就|先)?(?:别|別|不要|不用|不必|勿|不许)"
_ZH_DOWN = r"(?:下来|下來|住|下|在案)"
_ZH_KEEP = rf"(?:(?:记录|記錄|记|記){_ZH_DOWN}?|(?:写|寫){_ZH_DOWN}|(?:记录|記錄|记|記|写|寫|存)(?:到|进|進|在|入)?(?:你的)?(?:日记|日記)(?:里|裡|本)?(?:面)?)"
_CHINESE = (
    rf"{_ZH_NOT}(?:把(?:{_ZH_THIS}|它))?(?:给|給)?{_ZH_KEEP}(?:{_ZH_THIS}|它)?",
    rf"(?:{_ZH_THIS}|(?:刚才|剛才|剛剛|刚刚|上面)?我?(?:说|說)的(?:话|{_ZH_THIS})?|(?:刚才|剛才|刚刚)(?:那|这)?(?:句|段)?话?){_ZH_NOT}{_ZH_KEEP}",
)
_JAPANESE = (
    r"(?:どうか)?(?:これ|それ|今の|いまの|このこと|その話|この話|今の話)?(?:は|を|も|だけは)?(?:(?:日記に|日記には)(?:書か|残さ|記録し|メモし)|記録し|記録に残さ|メモし|書き留め|書きとめ|覚え)ないで(?:ください|下さい|ね|くれ|よ|おいて|おいてください)*",
    r"(?:これ|それ|今の|この話|今の話)?(?:は|を)?オフレコ(?:で|です|だよ|ね|でお願い|でお願いします)*",
)
_KOREAN = (
    r"(?:제발 )?(?:이건|이거|이것은|이것을|그건|그거|방금 (?:한 )?말은?|이 말은?|이 얘기는?|이 이야기는?)? ?(?:(?:일기에|일기장에)(?:는)? (?:기록하지|적지|쓰지|남기지)|기록하지|기록하진|적어두지|적지|기억하지)(?:는)? ?(?:마|마요|마세요|말아|말아요|말아줘|말아 줘|말아주세요|말아 주세요|말라)",
)
_GERMAN = (
    r"(?:bitte )?(?:notier|notiere|vermerk|vermerke|protokollier|protokolliere|merk|merke)(?:en sie)? (?:dir |sich )?(?:das|dies|es|das hier|das eben)(?: hier| jetzt)?(?: bitte)? nicht(?: (?:im|ins|in dein|in deinem|in das) (?:tagebuch|gedächtnis))?",
    r"(?:bitte )?(?:schreib|schreibe|schreiben sie|zeichne|zeichnen sie|nimm|nehmen sie|halt|halte) (?:dir )?(?:das|dies|es|das hier|das eben)(?: bitte)? nicht (?:auf|fest|nieder|ins tagebuch|in dein tagebuch)",
    r"(?:das|dies|das hier)(?: bitte)? nicht (?:aufschreiben|notieren|aufzeichnen|festhalten|merken|mitschreiben)(?: bitte)?",
    r"(?:bitte nicht (?:aufschreiben|notieren|aufzeichnen)|nicht (?:aufschreiben|notieren|aufzeichnen) bitte)",
)
_FRENCH = (
    r"(?:s'il te plaît |stp )?n['e ]\s?(?:enregistre|enregistrez|note|notez|retiens|retenez|écris|écrivez|inscris|mémorise|mémorisez|consigne)(?: surtout)? (?:pas|rien de) (?:ça|cela|ceci|ce que je (?:viens de dire|dis)|tout ça)(?: dans (?:ton|votre|le) (?:journal|carnet|mémoire))?",
    r"ne (?:le|la|les) (?:note|notez|retiens|retenez|enregistre|enregistrez) pas(?: dans (?:ton|votre|le) (?:journal|carnet))?",
    r"(?:note|enregistre|retiens|écris) pas ça(?: dans ton journal)?",
    r"ça reste entre nous et ne le note pas",
)
_SPANISH = (
    r"(?:por favor )?no (?:lo |la )?(?:grabes|grabe|registres|registre|anotes|anote|apuntes|apunte|recuerdes|recuerde|memorices|memorice)(?: (?:esto|eso|nada de esto|nada de eso|lo que (?:acabo de decir|digo|dije)))?(?: en (?:tu|su|el) (?:diario|memoria))?",
    r"(?:por favor )?no (?:lo )?(?:escribas|escriba|guardes|guarde|pongas|ponga)(?: (?:esto|eso))? en (?:tu|su|el|la) (?:diario|memoria)",
)
_BEFORE = r"(?:(?:please|pls|hey|oh|ok|okay|and|also|but|so|by the way|btw|bitte|und|aber|ah|et|mais|y|pero|oye|por favor|s'il te plaît|stp|对了|哦|那个|那|啊|嗯|拜托|あ|ねえ|あの|아|그리고|참) ?)*"
_AFTER = r"(?: ?(?:please|pls|ok|okay|thanks|thank you|bitte|danke|ja|merci|svp|stp|s'il te plaît|por favor|gracias|vale|吧|啊|哦|喔|了|好吗|谢谢|好不好|好嗎|謝謝|ね|よ|お願い|お願いします|알겠지|응|제발|though|either|now|yet))*"
_SENTENCE = re.compile(
    rf"{_BEFORE}(?:{'|'.join((*_ENGLISH, *_CHINESE, *_JAPANESE, *_KOREAN, *_GERMAN, *_FRENCH, *_SPANISH))}){_AFTER}\Z",
    re.IGNORECASE,
)


def not_recorded(text: str) -> bool:
    """Tell whether a message asks in a sentence of its own not to be recorded.

    English, Chinese, Japanese, Korean, German, French, Spanish. A sentence that says more, such as
    what in which file is not to be noted, is a task; what is pasted or quoted says nothing.
    """
    return any(
        _SENTENCE.match(sentence)
        for sentence in map(_plain, _SENTENCES.split(_unquoted(typed(text))))
        if 0 < len(sentence) <= _LONGEST
    )


def _unquoted(text: str) -> str:
    # Behind the last quotation mark that closes nothing is quoted: looked for there, each one that
    # opens would be followed to the end, which takes minutes where there are many.
    end = max(map(text.rfind, _CLOSERS)) + 1
    return _QUOTED.sub(" ", text[:end]) + text[end:]


def _plain(sentence: str) -> str:
    whole = unicodedata.normalize("NFKC", sentence).replace("’", "'")
    return " ".join(_ENDS.sub("", whole).split())
