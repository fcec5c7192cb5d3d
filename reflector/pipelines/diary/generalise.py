"""What tells who somebody else is, made general: names, numbers, addresses, employers, amounts.

Patterns for English and Chinese. What they catch is what is said in one of the usual ways: a name
beside a relation, a title or a verb of speech, a number in a known form. A name that stands alone
("Anna was there"), a nickname, a description by which everybody knows who is meant, and other
languages they do not: the model is asked for that, and nothing proves that it did.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable
from typing import Final

_PASSES: Final = 4
_Rule = tuple[re.Pattern[str], str | Callable[[re.Match[str]], str]]

# Family is called by its relation, of which a person has one: it says no more than that. Of others
# there are many, and "a friend" is one of them.
_FAMILY = (
    "mother|mum|mom|father|dad|parents?|sister|brother|wife|husband|partner|girlfriend|boyfriend|"
    "fiancée?|daughter|son|child|baby|kid|aunt|uncle|cousin|niece|nephew|grandmother|grandma|"
    "grandfather|grandpa|ex(?:-(?:wife|husband|girlfriend|boyfriend))?|"
    "(?:mother|father|sister|brother|daughter|son)-in-law|step(?:mother|father|sister|brother)"
)
_OTHERS = (
    "(?:best |old |close |school |childhood )?friend|colleague|co-?worker|boss|manager|teacher|"
    "neighbou?r|roommate|flatmate|landlord|landlady|doctor|dentist|therapist|lawyer|classmate|"
    "client|customer|coach|supervisor|professor|teammate|nurse|mentor|intern|assistant"
)
_WHOSE = r"my|his|her|their|our|your|the|an?|(?:this|the) user['’]s"
_NAME = r"[A-Z][a-zà-ÿ]{1,20}(?:[-'’][A-Z][a-zà-ÿ]{1,20})?"
_FULL = rf"{_NAME}(?: {_NAME}){{0,2}}"
_NO_NAME = (
    "I|A|An|The|He|She|It|We|You|They|This|That|These|Those|There|Here|Who|What|When|Where|Why|How|"
    "And|But|Or|So|Then|Now|If|Yes|No|Not|Never|Nobody|Everyone|Everybody|Someone|Somebody|One|"
    "Monday|Tuesday|Wednesday|Thursday|Friday|Saturday|Sunday|January|February|March|April|May|"
    "June|July|August|September|October|November|December|Christmas|Easter|English|Chinese|German|"
    "Mum|Mom|Mother|Dad|Father|Grandma|Grandpa|Reflector|Python|Claude|God|User|My|His|Her|Their|Our"
)
_SOMEBODY = rf"(?!(?:{_NO_NAME})\b){_FULL}"
_SAYS = (
    "said|says|told|tells|asked|asks|thinks|thought|wants|wanted|called|calls|texted|wrote|writes|"
    "replied|answered|left|died|phoned|promised|lied|apologi[sz]ed|complained|shouted|cried|laughed"
)
_MEETS = (
    "met|meets|meeting|married|marries|marrying|dates|dating|dated|phoned|texted|texts|divorced|"
    "visited|visits|visiting|misses|missed|missing|loves|loved|hugged|kissed|invited|"
    "(?:argued|argues|arguing|fought|fights|fighting|broke up|breaking up|split up|lives|lived|living|"
    "talked|talks|talking|spoke|speaks|speaking|dinner|lunch|coffee|breakfast|a walk|a date|a fight|"
    "an argument|a call|in love) (?:with|to|about)|(?:named|called|name is|is called)"
)
_STREET = (
    "Street|St|Avenue|Ave|Road|Rd|Lane|Ln|Drive|Dr|Boulevard|Blvd|Court|Ct|Square|Sq|Place|Way|"
    "Terrace|Crescent|Close|Alley"
)
_NUMBER = r"\d[\d.,]{0,20}"
_SCALE = r"(?: ?(?:k|K|m|M|bn|thousand|million|billion|hundred)\b)?"

_CITY = "[\u4e00-\u9fff]"
_CJK = re.compile(_CITY)
_PLACE = f"(?:(?![在住是的了到去从從来來]){_CITY})"
_SURNAME = (
    "[王李张刘陈杨赵黄周吴徐孙胡朱高林何郭马罗梁宋郑谢韩唐冯于董萧程曹袁邓许傅沈曾彭吕苏卢蒋蔡贾丁魏薛"
    "叶阎余潘杜戴夏钟汪田任姜范方石姚谭廖邹熊金陆郝孔白崔康毛邱秦江史顾侯邵孟龙万段雷钱汤尹黎易常武乔贺赖龚文張劉陳楊趙黃吳孫馬羅鄭謝韓馮鄧許蕭蘇盧蔣賈葉閻鍾範鄒陸龍萬錢湯賴龔]"
)
# Where a name may end: there is no space behind it.
_BEHIND = r"(?=[，。、；：！？,.;:!?\s”」』）)说說告跟和与在去来來的是要想很也都把给給被不又对對打问問会會就还還总總最没沒写寫觉覺病走生离離]|[今昨明后後前][天年晚]|\Z)"
# Words of everyday that begin with what is a surname elsewhere, and signs that no name holds.
_NO_ZH_NAME = (
    "(?!马上|馬上|高兴|高興|高声|许多|許多|任何|任由|万一|萬一|常常|常年|周围|周圍|周[一二三四五六日末]|方便|方才|方案|"
    "何必|何不|何况|何妨|程序|白天|白白|谢谢|謝謝|谢天|夏天|文件|文档|文章|文中|毛病|段子|余下|石头|黄昏|金额|易于|"
    "江湖|林子|钱包|钱财|龙头|史上|万分|万般|万事|段落|田里|雷声|江边|陆续|陸續|康复|乔装|贺卡|武断|汤里)"
)
_GIVEN = "(?:(?![又都也就才还還只再不没沒很地得的他她我你它们們跟对對和是了着著过過却卻便这這那么麼些个個把被给給让讓])[\u4e00-\u9fff])"
_ZH_NAME = rf"(?:{_NO_ZH_NAME}{_SURNAME}{_GIVEN}{{1,2}}?|[小老阿]{_CITY})"
_ZH_RELATION = (
    "男朋友|女朋友|好朋友|老朋友|朋友|闺蜜|闺密|同事|同学|同學|室友|邻居|鄰居|老板|老闆|上司|经理|經理|领导|领導|"
    "妈妈|媽媽|母亲|母親|爸爸|父亲|父親|老公|老婆|丈夫|妻子|儿子|兒子|女儿|女兒|哥哥|姐姐|弟弟|妹妹|奶奶|爷爷|爺爺|"
    "外婆|外公|姑姑|叔叔|舅舅|阿姨|表哥|表姐|表弟|表妹|前任|前男友|前女友|对象|對象|客户|客戶|房东|房東|导师|導師"
)
_ZH_TITLE = (
    "先生|女士|小姐|太太|老师|老師|医生|醫生|教授|经理|經理|主任|律师|律師|师傅|師傅|同学|同學"
)
_ZH_SAYS = "说|說|告诉|告訴|觉得|覺得|问|問|打电话|打電話|写信|寫信|发消息|發消息|答应|答應|抱怨|去世|离开|離開"
_ZH_DIGITS = "[0-9０-９一二三四五六七八九十百千万萬亿億两兩.,]"


def _relation(found: re.Match[str]) -> str:
    """Leave the relation and drop the name: "my friend Anna" is a friend, "my sister Anna" my sister."""
    whose, relation = found["whose"], found["relation"]
    if re.fullmatch(_FAMILY, relation, re.IGNORECASE):
        return f"{whose} {relation}"
    article = "an" if relation[0].lower() in "aeiou" else "a"
    return f"{article.capitalize() if whose[0].isupper() else article} {relation}"


def _behind(found: re.Match[str]) -> str:
    """Do the same where the name comes first: "Anna, my friend, was late" tells of a friend."""
    return _start(found, _relation(found))


def _start(found: re.Match[str], word: str) -> str:
    """Begin a sentence with a capital letter."""
    before = found.string[: found.start()].rstrip()
    return word[:1].upper() + word[1:] if not before or before[-1] in ".!?" else word


def _said(english: str, chinese: str) -> Callable[[re.Match[str]], str]:
    """Say it in the language of what stands around."""

    def words(found: re.Match[str]) -> str:
        around = found.string[max(0, found.start() - 8) : found.end() + 8]
        return chinese if _CJK.search(around) else english

    return words


def _rule(pattern: str, becomes: str | Callable[[re.Match[str]], str], flags: int = 0) -> _Rule:
    return re.compile(pattern, flags), becomes


_RULES: Final[tuple[_Rule, ...]] = (
    # Forms that say themselves what they are.
    _rule(r"(?<![\w.+-])[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4}", _said("an address", "一个地址")),
    _rule(r"(?<!\d)[1-9]\d{5}(?:19|20)\d{2}(?:0\d|1[0-2])(?:[0-2]\d|3[01])\d{3}[\dXx](?!\d)", _said("a number", "一个号码")),
    _rule(r"(?<!\d)(?:\+?86[- ]?)?1[3-9]\d[- ]?\d{4}[- ]?\d{4}(?!\d)", _said("a phone number", "一个电话号码")),
    _rule(r"(?<![\w+])\+\d{1,3}(?:[ .-]?\d{2,8}){1,4}(?!\w)", _said("a phone number", "一个电话号码")),
    _rule(r"(?<!\d)\d{3}-\d{2}-\d{4}(?!\d)", _said("a number", "一个号码")),
    _rule(r"\b[A-Z]{2}\d{2}(?: ?[A-Z0-9]{4}){2,7}(?: ?[A-Z0-9]{1,3})?\b", _said("a number", "一个号码")),
    _rule(r"(?<!\d)(?:\d{4}[- ]?){3}\d{1,7}(?!\d)", _said("a number", "一个号码")),
    _rule(r"(?<![\w+.-])(?:\(\d{2,4}\) ?|0\d{1,4}[ ./-]|\d{3,4}-)\d{3,4}[ -]\d{3,4}(?:[ -]\d{2,4})?(?![\w-])", _said("a phone number", "一个电话号码")),
    _rule(r"(?i)\b((?:passport|account|customer|employee|student|insurance|licen[cs]e|policy|tax|member|case|patient|phone|social security)(?: (?:number|no\.?|id))?(?: is)?:?) #?[A-Z]{0,3}\d[\dA-Z-]{4,20}\b", r"\1 withheld"),
    _rule(r"((?:身份证|身份證|护照|護照|银行卡|銀行卡|卡|账号|賬號|学号|學號|工号|工號|电话|電話|手机|手機|微信|车牌|車牌)(?:号码|號碼|号|號)?(?:是|为|為|：|:)?)\s?(?=[A-Za-z-]{0,8}\d)[A-Za-z0-9-]{5,24}", r"\1某个号码"),
    # Where somebody lives.
    _rule(rf"\b\d{{1,5}}[A-Za-z]?,? (?:{_NAME} ){{1,3}}(?:{_STREET})\b\.?(?:,? (?:Apt|Apartment|Unit|Flat|Suite)\.? ?#?\w{{1,6}})?", "an address"),
    _rule(rf"\b{_NAME}(?:straße|strasse|str\.|weg|gasse|platz|allee) \d{{1,4}}[a-z]?\b", "an address"),
    _rule(rf"(?:{_PLACE}{{2,8}}?(?:省|自治区))?(?:{_PLACE}{{2,8}}?[市])?(?:{_PLACE}{{1,8}}?[区區县縣])?{_PLACE}{{2,8}}?(?:路|街|大道|巷|弄|胡同)\d{{1,5}}[号號弄](?:\d{{1,4}}[栋楼幢号樓棟](?:\d{{1,3}}单元)?)?(?:\d{{1,5}}[室户])?", "一个地址"),
    # How much exactly.
    _rule(rf"(?:US|HK|NT|A|C)?[$€£¥￥₩]\s?{_NUMBER}{_SCALE}", _said("some money", "一些钱")),
    _rule(rf"(?<![\w.]){_NUMBER}{_SCALE} ?(?:dollars?|euros?|pounds?|bucks|yuan|yen|francs?|won|USD|EUR|GBP|CHF|RMB|CNY|JPY)\b", _said("some money", "一些钱")),
    _rule(rf"\b(?:USD|EUR|GBP|CHF|RMB|CNY|JPY) ?{_NUMBER}{_SCALE}", _said("some money", "一些钱")),
    # A single 块 is a piece of something as often: 另一块奶酪, 我们一块去.
    _rule(rf"{_ZH_DIGITS}{{1,15}}(?<![.,]){_ZH_DIGITS}多?(?:块|塊)(?!{_ZH_DIGITS})", "一些钱"),
    _rule(rf"{_ZH_DIGITS}{{1,16}}多?(?:元|块钱|塊錢|人民币|人民幣|美元|欧元|歐元|日元|港币|港幣|英镑|英鎊)", "一些钱"),
    # Who it is, beside what they are to this person.
    _rule(rf"\b(?P<whose>(?i:{_WHOSE})) (?P<relation>(?i:{_FAMILY}|{_OTHERS}))(?:,? (?:named|called|whose name is))?,? (?!(?:{_NO_NAME})\b){_FULL}(?=,)(?:,(?= (?:who|said|says|told|and|is|was|has)\b))?", _relation),
    _rule(rf"\b(?P<whose>(?i:{_WHOSE})) (?P<relation>(?i:{_FAMILY}|{_OTHERS}))(?:,? (?:named|called|whose name is))? (?!(?:{_NO_NAME})\b){_FULL}", _relation),
    _rule(rf"\b(?!(?:{_NO_NAME})\b){_FULL},? \(?(?P<whose>my|his|her|their|our|your|a|an) (?P<relation>{_FAMILY}|{_OTHERS})\)?(?:,|(?=[.;!?]|\Z))", _behind),
    _rule(rf"\b(?:Mr|Mrs|Ms|Miss|Mx|Dr|Prof|Sir|Madam|Herr|Frau)\b\.? {_FULL}", lambda found: _start(found, "someone")),
    _rule(rf"({_ZH_RELATION})(?:名叫|叫做|叫|，|,)?(?:{_ZH_NAME}){_BEHIND}", r"\1"),
    _rule(rf"(?<![任如奈若]){_NO_ZH_NAME}{_SURNAME}{_GIVEN}{{0,2}}?(?:{_ZH_TITLE})", "某人"),
    _rule(rf"(?<!{_CITY}){_NO_ZH_NAME}{_SURNAME}{_GIVEN}{{1,2}}?(?={_ZH_SAYS})", "某人"),
    _rule(rf"(?<!{_CITY})[小老阿]{_SURNAME}(?={_ZH_SAYS}|[，。、跟和与在的是要想])", "某人"),
    # Where they work, then names that only a verb gives away.
    _rule(rf"\b((?:works?|worked|working|employed|interned|interns|hired|(?:a |the |new |old )?job|position|fired|laid off) (?:at|for|by|from)) (?!(?:{_NO_NAME})\b){_NAME}(?: (?:{_NAME}|[A-Z]{{2,6}}|&|of)){{0,3}}", r"\1 a company"),
    _rule(r"\b((?:works?|worked|working|employed|interned|interns|hired|(?:a |the |new |old )?job|position|fired|laid off) (?:at|for|by|from)) [A-Z][A-Z0-9&]{1,9}\b", r"\1 a company"),
    _rule(rf"((?:在|就职于|入职|任职于)){_CITY}{{2,10}}?(?:公司|集团|集團|银行|銀行|事务所|事務所|有限公司)", r"\1一家公司"),
    _rule(rf"\b{_SOMEBODY}(?= (?:{_SAYS})\b)", lambda found: _start(found, "someone")),
    _rule(rf"\b({_MEETS}) {_SOMEBODY}", r"\1 someone"),
)  # fmt: skip


def generalise(text: str, keep: Iterable[str] = ()) -> str:
    """Return a text in which nobody else can be told by what patterns find.

    `keep` are names of the person whose diary it is; they stay. Doing it twice changes nothing
    more, and the time grows with the length of the text alone.
    """
    own = tuple(name for name in keep if name.strip())
    for _ in range(_PASSES):  # what one rule leaves may be what another one looks for
        before = text
        for pattern, becomes in _RULES:
            text = pattern.sub(_but_for(own, becomes), text)
        if text == before:
            break
    return text


def _but_for(
    own: tuple[str, ...], becomes: str | Callable[[re.Match[str]], str]
) -> Callable[[re.Match[str]], str]:
    def replaced(found: re.Match[str]) -> str:
        if any(name in found.group() for name in own):
            return found.group()
        return becomes(found) if callable(becomes) else found.expand(becomes)

    return replaced
