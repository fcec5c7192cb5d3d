"""Words of small talk: of a prompt that holds nothing else, no memory is worth showing."""

from __future__ import annotations

from functools import lru_cache

from reflector.core.tokens import terms

_WORDS = """
again ah alright also awesome bye cheers continue cool correct day did doing done exactly explain fine
first friend go going good got great guess hello help hey hi hmm idea just keep kind know let like
little look looks lot love make makes maybe mean more morning much need nice no nope now oh ok okay one
only other perfect please point pretty problem proceed question quick ready really right run say see
sense show something sorry sounds start still stop stuff super sure take tell thank thanks thing things
think time today tomorrow tonight try two understand use very wait want way weekend well wonderful work
works worry wow wrong yeah yep yes yet
danke bitte gut ja nein weiter mach super genau hallo merci oui non bien gracias hola bueno
好的 谢谢 继续 可以 请继续 不错 你好 是的 没问题 早上好 明白 知道了 再见 辛苦了 太好了 对的 开始吧 好吧 什么 怎么 一下 我们
ありがとう はい いいえ お願いします 続けて こんにちは おはよう 了解 わかりました です ます してください
감사합니다 고마워 네 아니요 계속 좋아요 안녕하세요 해주세요
"""


@lru_cache(maxsize=1)
def chatter() -> frozenset[str]:
    """Return the terms of small talk."""
    return frozenset(terms(_WORDS))
