"""The language of an extraction is the user's."""

from __future__ import annotations

import pytest

from reflector.pipelines.experiences.language import chinese
from reflector.pipelines.experiences.rows import Row


def _user(*texts: str) -> list[Row]:
    return [Row(f"u{at}", "user", text) for at, text in enumerate(texts)]


@pytest.mark.parametrize(
    "text",
    [
        "请把超时改成三十秒",
        "把 config.yaml 里的 port 改成 8080",
        "为什么 `pytest -q tests/unit/pay/test_all.py` 失败？看 https://ci.example.com/jobs/1",
        "这个报错怎么回事\n```\nTraceback (most recent call last): there is no such file at all\n```",
        "請檢查備份的排程",
        "然后force push",
    ],
)
def test_chinese_with_names_and_pasted_logs_is_chinese(text: str) -> None:
    assert chinese(_user(text))


@pytest.mark.parametrize(
    "text",
    [
        "Please raise the timeout to thirty seconds",
        "Please fix the 数据库 migration in the repo",
        "Translate 你好 into French please",
        "タイムアウトを三十秒に変更してください",
        "제한 시간을 바꿔 주세요",
        "Die Prüfung schlägt fehl",
        "",
    ],
)
def test_other_languages_are_not(text: str) -> None:
    assert not chinese(_user(text))


def test_the_last_five_turns_decide() -> None:
    english, han = "Look at this please, will you", "请看一下这个问题"
    assert chinese(_user(*[english] * 9, *[han] * 5))
    assert not chinese(_user(*[han] * 9, *[english] * 5))


def test_turns_are_counted_and_not_their_words() -> None:
    pasted = "The service could not be reached because of a proxy in the middle of it"
    assert chinese(_user(pasted, "请看一下", "还是不行", "42"))
    assert not chinese(_user("请看一下", "please look", "and here as well"))


def test_of_as_many_turns_the_last_one_decides() -> None:
    assert chinese(_user("please look", "请看一下"))
    assert not chinese(_user("请看一下", "please look"))


def test_a_tools_output_decides_nothing_while_anybody_spoke() -> None:
    tool = Row("t", "tool_call", "", "Bash", "{}", "找不到文件或目录，请检查路径是否正确")
    assert not chinese([*_user("run it"), tool])
    assert not chinese([Row("a", "assistant", "Running it now."), tool])
    assert chinese([tool])


def test_without_a_user_other_text_decides() -> None:
    assert chinese([Row("a", "assistant", "备份已经完成，没有错误。")])


def test_a_user_who_only_pasted_is_read_all_the_same() -> None:
    assert chinese(_user("```\n找不到文件或目录\n```"))
    assert not chinese([])


def test_a_pasted_word_without_an_end_is_read_once() -> None:
    assert not chinese(_user("look " + "A" * 1_000_000))
    assert chinese(_user("请看一下 " + "a-/" * 300_000))
