"""The engine without a model: it writes down what a person said in so many words."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Literal

from reflector.agent import remembered
from reflector.agent.dating import absolute
from reflector.agent.engine import Commit, Finish, PayloadConversation, PayloadEntry, Task, Update
from reflector.agent.folder import Folder
from reflector.agent.remembered import Memory, Note, Written
from reflector.agent.statements import read
from reflector.core.errors import DocumentError
from reflector.core.redact import find_secrets
from reflector.memory import document
from reflector.memory.document import Document

EXAMPLES = 10
PLAINLY = (
    "This engine uses no model. It only catches explicit statements (remember, always, never, "
    "prefer, use X instead of Y, no, we decided; in English, Chinese, Japanese and Korean); "
    "whatever was meant but not said in such words is not in memory."
)


@dataclass(slots=True)
class _Heard:
    """What the payload gave: notes in the order of speaking, and what was passed over."""

    messages: int = 0
    notes: list[Note] = field(default_factory=list)
    skipped: defaultdict[str, list[str]] = field(default_factory=lambda: defaultdict(list))


class RulesEngine:
    """Deterministic extraction of explicit statements; needs no account, network or model."""

    name = "rules"

    def run(self, task: Task, commit: Commit, progress: Callable[[str], None]) -> Finish:
        """Do the task. Everything is decided before the first file is written."""
        if task.pipeline == "dream":
            said = "The rules engine does not dream; it only reads conversations."
            return Finish("failed", said, reason="engine_error", detail=said)
        heard = _listen(task)
        progress(f"read {heard.messages} user messages, {len(heard.notes)} statements")
        folder = Folder(task.worktree)
        documents, issues = _documents(folder)
        memory = Memory(
            bodies={path: one.body for path, one in documents.items()},
            protected=frozenset(issues),
            left=task.system_left,
        )
        memory.enter(heard.notes)
        for note, refusal in memory.refused:
            heard.skipped[refusal].append(note.entry)
        if not memory.written:
            return _nothing(task, heard, issues)
        return _commit(task, commit, heard, memory, documents, folder, list(issues.values()))


def _listen(task: Task) -> _Heard:
    """Read the messages that a person typed."""
    heard = _Heard()
    for conversation in task.conversations:
        users = [entry for entry in conversation.entries if entry.kind == "user"]
        # In a subagent's conversation the "user" is the agent that gave it the task.
        if conversation.id.count("/") >= 2:
            heard.skipped["written by an agent"] += [entry.id for entry in users]
            continue
        for entry in users:
            heard.messages += 1
            _hear(entry, conversation, task.today, heard)
    # The newer word wins, also between conversations; without times the payload's order stands.
    if all(note.at for note in heard.notes):
        heard.notes.sort(key=lambda note: note.at)
    return heard


def _hear(
    entry: PayloadEntry, conversation: PayloadConversation, today: str, heard: _Heard
) -> None:
    reading = read(entry.text)
    for skip in reading.skipped:
        heard.skipped[skip.reason].append(entry.id)
    day = _day(entry.at) or _day(today)
    for statement in reading.statements:
        if find_secrets(statement.text):
            heard.skipped["looks like a secret"].append(entry.id)
            continue
        text = absolute(statement.text, date.fromisoformat(day)) if day else statement.text
        project = _project(conversation.cwd)
        heard.notes.append(
            Note(
                statement=statement,
                text=text,
                project=project,
                day=day or today,
                conversation=conversation.id,
                entry=entry.id,
                at=entry.at,
            )
        )


def _day(stamp: str) -> str:
    try:
        return date.fromisoformat(stamp[:10]).isoformat()
    except ValueError:
        return ""


def _project(cwd: str) -> str:
    """Return the name of a folder, fit for a heading."""
    last = re.split(r"[/\\]", cwd.rstrip("/\\"))[-1]
    plain = re.sub(r"[^\w .@+-]", " ", last)
    return " ".join(plain.split())[:80] or "General"


def _documents(folder: Folder) -> tuple[dict[str, Document], dict[str, str]]:
    """Read the target documents; what cannot be changed goes to the second value, with why."""
    found: dict[str, Document] = {}
    issues: dict[str, str] = {}
    for path in remembered.TARGETS:
        try:
            raw = folder.read(path)
            if raw is None:
                continue
            found[path] = document.parse(path, raw)
        except DocumentError as error:
            issues[path] = f"{error.message} Nothing was written to it."
        except OSError as error:
            issues[path] = (
                f"{path} cannot be opened ({error.strerror or error}); nothing was written to it."
            )
        else:
            if found[path].read_only:
                issues[path] = f"{path} is read-only; nothing was written to it."
    return found, issues


def _commit(
    task: Task,
    commit: Commit,
    heard: _Heard,
    memory: Memory,
    documents: dict[str, Document],
    folder: Folder,
    issues: list[str],
) -> Finish:
    """Write the changed documents and commit them."""
    for path in sorted({one.path for one in memory.written}):
        body = memory.bodies[path]
        known = documents.get(path)
        made = known.with_body(body) if known else document.new(remembered.DESCRIPTIONS[path], body)
        try:
            folder.write(path, document.render(made))
        except OSError as error:
            said = f"{path} cannot be written: {error.strerror or error}."
            report = _report(task, heard, memory.written, "no commit", [*issues, said])
            return Finish("failed", report, reason="engine_error", detail=said, refusals=1)
    kind: Literal["fix", "feat"] = "fix" if any(one.replaced for one in memory.written) else "feat"
    summary = _summary(memory.written)
    try:
        tip = commit(kind, summary, [_update(one) for one in memory.written])
    except DocumentError as error:
        report = _report(task, heard, memory.written, "no commit", [*issues, error.message])
        return Finish("failed", report, reason="validation", detail=error.message, refusals=1)
    shown = f"{kind}({task.pipeline}): {summary} ({tip[:12]})"
    return Finish("committed", _report(task, heard, memory.written, shown, issues))


def _update(one: Written) -> Update:
    """Name the line, the conversation and the entry; the note's own words come from the document."""
    instead = f"; instead of: {one.replaced.removeprefix('- ')}" if one.replaced else ""
    text = f"{one.path}: {one.note.text}{instead} (from {one.note.conversation})"
    return Update(text, (one.note.entry,))


def _summary(written: Sequence[Written]) -> str:
    counts = Counter(one.note.statement.kind for one in written)
    kinds = [f"{count} {kind}{'s' if count > 1 else ''}" for kind, count in counts.items()]
    return "remember " + ", ".join(kinds)


def _nothing(task: Task, heard: _Heard, issues: dict[str, str]) -> Finish:
    """Finish without a change; being unable to write what was found is a failure, not nothing."""
    report = _report(task, heard, (), "no commit", list(issues.values()))
    if heard.skipped.get("document is protected"):
        said = "Statements were found, but the documents for them cannot be changed."
        refusals = len(heard.skipped["document is protected"])
        return Finish("failed", report, reason="engine_error", detail=said, refusals=refusals)
    return Finish("nothing_to_record", report)


def _report(
    task: Task, heard: _Heard, written: Sequence[Written], commit: str, issues: Sequence[str]
) -> str:
    count = len(task.conversations)
    summary = (
        f"Read {_many(heard.messages, 'user message')} in {_many(count, 'conversation')} and "
        f"recorded {_many(len(written), 'statement')}. {PLAINLY}"
    )
    asked = ["The wish to look at something in particular was not used."] if task.focus else []
    parts = {
        "Summary": [summary],
        "Memory changes": [_change(one) for one in written] or ["None."],
        "Skill changes": ["None. This engine does not write skills."],
        "Skipped": list(_skipped(heard)) or ["Nothing that looked like a statement."],
        "Commit": [commit],
        "Issues": [f"- {one}" for one in (*issues, *asked)] or ["None."],
    }
    return "\n".join(f"## {head}\n\n" + "\n".join(lines) + "\n" for head, lines in parts.items())


def _change(one: Written) -> str:
    how = "replaced a line" if one.replaced else "added"
    return f"- `{one.path}`: {how}: {one.note.text} ({one.note.conversation}, {one.note.entry})"


def _skipped(heard: _Heard) -> Iterator[str]:
    """Yield a line for each reason, with at most ten entry ids in all and never a text."""
    left = EXAMPLES
    for reason, entries in sorted(heard.skipped.items(), key=lambda one: -len(one[1])):
        shown = list(_unique(entries))[:left]
        left -= len(shown)
        examples = f" ({', '.join(shown)})" if shown else ""
        yield f"- {reason}: {len(entries)}{examples}"


def _unique(entries: Iterable[str]) -> Iterator[str]:
    return iter(dict.fromkeys(entries))


def _many(count: int, noun: str) -> str:
    return f"{count} {noun}{'' if count == 1 else 's'}"
