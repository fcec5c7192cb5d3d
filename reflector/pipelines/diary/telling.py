"""Which terms of what a person says could bring anything to mind: small words never do."""

from __future__ import annotations

from functools import lru_cache
from typing import Final

from reflector.core.chatter import chatter
from reflector.core.tokens import asked, terms

# In a young diary every word is rare. These are in every conversation, whatever it is about.
_SMALL = """
he she his hers him himself herself myself yourself itself us we they them theirs mine yours ours am
being get gets got gave give given gives come came comes went gone put puts set sets ask asked asks
tell told tells say said says saying call called calls feel felt feels think thought seem seemed try
tried trying want wanted use used want keep kept find found happen happened turn turned leave left
about above after all almost alone along already although always among any anybody anyone anything
around away back because before behind below beside best better between both down during each either
else enough even ever every everybody everyone everything few half hardly here however instead last
later least less little long many may might mine most must never next nobody none nothing off often
once ones onto other others out over own per perhaps quite rather same several shall since somebody
somehow someone something sometimes somewhere soon such than though through together toward under
until up upon very want way well whatever whenever whether whole whose within without whom
file function code test error line list string please fix run change add remove write check bug
"""
_FUNCTION: Final = frozenset(
    "的了是在我你您他她它们咱不没有也就都和与或而但要会能可以这那哪个些说讲去来到很还又再把被让给跟对"
    "吗呢吧啊呀哦嗯着过得地之其因为所如果只才从向么什怎样时候已经现后然上下里中想觉知道自己一两"
    "用请帮做看点次直接起出请"
)


def telling(query: str) -> tuple[str, ...]:
    """Return the terms a query asks for, as `core.tokens.asked` gives them, without small words."""
    return tuple(term for term in asked(query) if not _is_small(term))


def _is_small(term: str) -> bool:
    return term in _small_words() or all(char in _FUNCTION for char in term.removesuffix("*"))


@lru_cache(maxsize=1)
def _small_words() -> frozenset[str]:
    return chatter() | frozenset(terms(_SMALL))
