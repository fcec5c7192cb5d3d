"""The page that a person can leaf through: made from the diary, never read back."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Final

from reflector.core.diary import Diary, Entry, Trait, told_at
from reflector.core.redact import redact
from reflector.core.visible import visible
from reflector.pipelines.diary import persona_text, time_words

MOST: Final = 500

_NOTICE = """\
Whatever you change on this page is lost: it is written anew each time the diary changes, and
nothing reads it back. What you want remembered goes into NOTES.md, who the agent is into
persona.md; `reflector diary forget` takes out what should not be here.

"""
_TOP = "# Diary\n"
_OLDER = f"Older than the newest {MOST} there is more; it lies in `entries/`."
# At the start of a line these would be more than words.
_MARKS = "#-*+>|=~ "


def readable(diary: Diary) -> str:
    """Return the page as Markdown, with what to know before one edits it."""
    return _NOTICE + leafed(diary)


def leafed(diary: Diary) -> str:
    """Return what the page says: what is thought, then what happened, newest first."""
    traits = sorted(diary.traits.values(), key=lambda each: (-each.salience, each.id))
    events = _newest(each for each in diary.entries.values() if each.kind != "note")
    notes = _newest(each for each in diary.entries.values() if each.kind == "note")
    words = sorted(diary.lexicon.values(), key=lambda each: (-each.count, each.term))
    parts = [
        _persona(persona_text.lines(diary.persona)),
        _listed("What you wrote for me", map(_line, diary.notes)),
        _listed("How I see you", _told(traits, "user")),
        _listed("What I learned to do", _told(traits, "self")),
        _listed("Words that are ours", (_line(each.term) for each in words)),
        _listed("What I noted", (_old(each.text) for each in notes[:MOST])),
        _listed("What happened", (_old(each.text) for each in events[:MOST])),
        f"\n{_OLDER}\n" if max(len(events), len(notes)) > MOST else "",
    ]
    page = _TOP + ("".join(parts) or "\nThere is nothing here yet.\n")
    # Old text may have been written before there was a rule for what is secret in it.
    return redact(page).text


def _newest(entries: Iterable[Entry]) -> list[Entry]:
    return sorted(entries, key=told_at, reverse=True)


def _told(traits: Iterable[Trait], about: str) -> Iterable[str]:
    return (_old(each.text) for each in traits if each.about == about)


def _listed(heading: str, lines: Iterable[str]) -> str:
    shown = [f"- {line}\n" for line in lines if line]
    return f"\n## {heading}\n\n{''.join(shown)}" if shown else ""


def _persona(lines: Iterable[str]) -> str:
    """Show the persona as it is laid out: paragraphs, and lists under them."""
    shown = ""
    listing = False
    for line in lines:
        item = line.startswith("- ")
        apart = "" if item and listing else "\n"
        shown += f"{apart}{'- ' if item else ''}{_line(line)}\n"
        listing = item
    return f"\n## Who I am\n{shown}" if shown else ""


def _old(text: str) -> str:
    return _line(time_words.strip(text))


def _line(text: str) -> str:
    bare = visible(text).lstrip(_MARKS)
    # Tags would be run by whoever shows the page, and links would load what they name.
    return bare.replace("<", "&lt;").replace("![", "!\\[")
