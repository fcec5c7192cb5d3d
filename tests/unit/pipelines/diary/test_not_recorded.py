"""A person's "don't record this" is control in seven languages, and nothing else is."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reflector.pipelines.diary.not_recorded import not_recorded

WISHES = [
    "don't record this",
    "Don’t record this, please.",
    "Please do not record that.",
    "I cried. Don't write this down.",
    "don't remember this ok",
    "off the record: my boss is awful",
    "this is off the record",
    "please don't write this in your diary",
    "keep this out of your diary",
    "Hey, don't note this down, ok?",
    "这个别记",
    "别记这个",
    "不要记录",
    "不要把这个写进日记",
    "这段话别记录下来",
    "我今天哭了。别记下来",
    "刚才说的别记",
    "這個不要記錄",
    "これは記録しないで",
    "今のは記録しないでください。",
    "日記に書かないで",
    "これはオフレコで",
    "이건 기록하지 마",
    "이거 적지 마세요",
    "일기에 쓰지 마",
    "기록하지 말아줘",
    "Schreib das bitte nicht auf",
    "Notier das nicht.",
    "Das bitte nicht aufschreiben!",
    "Merk dir das nicht",
    "N'enregistre pas ça",
    "ne note pas ça s'il te plaît",
    "Ne notez pas cela.",
    "No grabes esto",
    "no lo anotes por favor",
    "no escribas esto en tu diario",
    "¡No grabes esto!",
    "Don't record this 🙏",
    "ｄｏｎ'ｔ ｒｅｃｏｒｄ ｔｈｉｓ",
    "Could you please not record this?",
    "don't you dare record this",
    "don't record anything",
    "别记录这段对话",
    "別記這個",
    "Nicht aufschreiben bitte!",
    "Ne le note pas",
]
TASKS = [
    "don't record this bug in the changelog",
    "Don't write this test",
    "do not log this",
    "don't save it",
    "please record this",
    "when it fails, do not log this",
    'he said "don\'t record this" to me',
    "```\ndon't record this\n```",
    "make sure we don't record this",
    "the recorder must not record this",
    "don't note this in CHANGELOG.md",
    "不要记录日志",
    "别记错了",
    "别写",
    "不要写这个",
    "不要把这个写到配置里",
    "不要记录用户的密码",
    "書かないで",
    "記録しないでください というボタンを追加",
    "기록하지 마세요 버튼을 추가",
    "이거 쓰지 마",
    "Schreib das nicht in die Datei",
    "nimm das nicht mit",
    "ne note pas cet élément dans la liste",
    "no guardes esto en la base de datos",
    "no registres el error en el log",
    "rename the button `don't record this`",
    "could you not record this metric?",
    "nicht notieren, sondern loggen soll er es in die Datei",
]


@pytest.mark.parametrize("text", WISHES)
def test_a_wish_not_to_be_recorded_is_heard(text: str):
    assert not_recorded(text)


@pytest.mark.parametrize("text", TASKS)
def test_a_task_that_sounds_like_it_is_none(text: str):
    assert not not_recorded(text)


@given(st.text(max_size=300))
def test_any_text_can_be_read(text: str):
    assert not_recorded(text) in (True, False)


def test_a_long_run_of_fillers_takes_no_time():
    assert not not_recorded("ok please oh hey " * 5000)
    assert not not_recorded("别" * 59 + "了" * 59)
    assert not not_recorded("“" * 200_000)
