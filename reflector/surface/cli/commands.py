"""The table of commands: which module runs each, and what it does."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Group:
    """A command whose next word chooses what it does."""

    says: str
    commands: Mapping[str, tuple[str, str]]


Entry = tuple[str, str] | Group
"""Either (module in this package, what it does), or a group of such. Imported when chosen."""


def says(entry: Entry) -> str:
    """Return what a command or a group of them does, in one line."""
    return entry.says if isinstance(entry, Group) else entry[1]


HEADINGS: dict[str, dict[str, Entry]] = {
    "start here": {
        "init": ("init", "make the memory of an identity, with its seed documents"),
        "install": ("install", "put Reflector's hooks into a harness, or list the harnesses"),
        "reflect": ("reflect", "learn from transcripts: ingest, reflect, validate, merge"),
        "status": ("status", "health at a glance"),
        "prompt": ("prompt", "the compiled memory block, as an agent gets it"),
    },
    "the memory": {
        "memory": Group(
            "memory documents: each change is one commit",
            {
                "ls": ("memory.ls", "list the documents, with what they are about"),
                "cat": ("memory.cat", "print one document"),
                "create": ("memory.create", "make a document"),
                "replace": ("memory.replace", "replace one place in a document"),
                "insert": ("memory.insert", "insert lines into a document"),
                "delete": ("memory.delete", "delete a document or a folder"),
                "rename": ("memory.rename", "rename a document or a folder"),
                "describe": ("memory.describe", "change what a document says it is about"),
                "apply-patch": ("memory.apply_patch", "change several documents, all or nothing"),
                "commit": ("memory.commit", "commit what you edited by hand"),
                "tokens": ("memory.tokens", "what each document costs in the compiled block"),
                "lint": ("memory.lint", "check documents against every rule"),
                "log": ("memory.log", "the commits that changed a document"),
                "why": ("memory.why", "the run, conversation and words that a line comes from"),
                "restore": ("memory.restore", "bring a document back as it was"),
                "forget": ("memory.forget", "remove something everywhere, and prove it"),
            },
        ),
        "recall": ("recall", "search the memory: the documents that answer best"),
        "search": ("search", "search the journal: what was said in past conversations"),
        "short-memory": Group(
            "your own MEMORY.md files",
            {
                "check": ("short_memory.check", "report like a linter"),
                "policy": ("short_memory.policy", "the rules by which agents keep these files"),
                "add": ("short_memory.add", "add an entry"),
                "set": ("short_memory.set", "change an entry"),
                "remove": ("short_memory.remove", "remove an entry"),
            },
        ),
    },
    "what was learned": {
        "decisions": Group(
            "what was decided for a project, and why it is kept",
            {
                "show": ("decisions.show", "the decisions that this project's sessions are shown"),
                "queue": ("decisions.queue", "what waits, and what friction it waits for"),
                "stats": ("decisions.stats", "how many there are, by kind and by friction"),
                "consolidate": ("decisions.consolidate", "bring what matters into the files now"),
                "diagnose": ("decisions.diagnose", "what was refused, skipped or cannot be read"),
                "banks": ("decisions.banks", "the projects that have decisions"),
                "add": ("decisions.add", "write a decision down yourself"),
                "move": ("decisions.move", "merge a bank into another"),
                "clear": ("decisions.clear", "remove all decisions of a project"),
                "forget": ("decisions.forget", "remove what was understood of a message"),
                "why": ("decisions.why", "the words that a decision rests on"),
                "admit": ("decisions.admit", "judge candidates against a prompt, from stdin"),
                "envelope": ("decisions.envelope", "what an extraction would read, from stdin"),
            },
        ),
        "experiences": Group(
            "how things were done in past conversations",
            {
                "list": ("experiences.list", "which there are, the newest first"),
                "show": ("experiences.show", "one of them, with what it rests on"),
                "history": ("experiences.history", "what one replaced, and what replaced it"),
                "forget": ("experiences.forget", "remove one, and what followed took from it"),
                "stats": ("experiences.stats", "how many there are, and how many were used"),
                "parse": (
                    "experiences.parse",
                    "what an extraction reads in a model's reply, from stdin",
                ),
                "extract": (
                    "experiences.extract",
                    "extract what was said since the last time, now",
                ),
            },
        ),
        "facts": Group(
            "what was established in past conversations",
            {
                "list": ("facts.list", "which there are, the newest first"),
                "show": ("facts.show", "one of them, with what it rests on"),
                "history": ("facts.history", "what one replaced, and what replaced it"),
                "forget": ("facts.forget", "remove one, and what followed took from it"),
                "stats": ("facts.stats", "how many there are, and how many were used"),
            },
        ),
        "diary": Group(
            "what happened between an agent and the person it lives with",
            {
                "read": ("diary.read", "leaf through the diary"),
                "note": ("diary.note", "leave a note for a later self"),
                "skip": ("diary.skip", "leave the present turn out of the diary"),
                "forget": ("diary.forget", "take something out of the diary and its history"),
                "preview": ("diary.preview", "the very text that a session would be shown now"),
                "stats": ("diary.stats", "what the diary holds, counted"),
                "undo": (
                    "diary.undo",
                    "take back a change of the persona that nobody made by hand",
                ),
                "tidy": ("diary.tidy", "put old records right: show how, or do it"),
                "export": ("diary.export", "write the diary into one file"),
                "import": ("diary.import_", "bring such a file in: merge it, or replace the diary"),
                "burn": ("diary.burn", "remove everything the diary says and said"),
            },
        ),
    },
    "runs": {
        "runs": ("runs", "the run ledger, newest first"),
        "show": ("show", "what one run read and changed"),
        "undo": ("undo", "take one run's merge back by a new commit"),
        "retry": ("retry", "read what one run read again; moves no cursor"),
        "review": Group(
            "runs that wait for a person",
            {
                "list": ("review.list", "which runs wait"),
                "show": ("review.show", "what a waiting run would change, and why it waits"),
                "approve": ("review.approve", "validate a waiting run again and merge it"),
                "reject": ("review.reject", "drop a waiting run; its lines are not written again"),
            },
        ),
        "dream": ("dream", "go over the memory itself, or one document of it"),
    },
    "harnesses and programs": {
        "ingest": ("ingest", "journal transcripts only; nothing is reflected on"),
        "uninstall": ("uninstall", "take out of a harness what install put there"),
        "event": ("event", "tell that something happened: what embedders and hooks call"),
        "supervise": ("supervise", "the long-lived supervisor of all identities"),
        "mcp": ("mcp", "the memory for clients of the Model Context Protocol"),
        "redact": ("redact", "take secrets out of a text: stdin to stdout"),
    },
    "care": {
        "pause": ("pause", "stop recording, for good or for a time"),
        "resume": ("resume", "go on recording"),
        "config": ("config", "the settings and where they come from"),
        "doctor": ("doctor", "look for trouble and say what to do"),
        "park": ("park", "the circuit breaker: show or clear it"),
        "sweep": ("sweep", "remove what killed runs left behind"),
    },
}
"""Every command under the heading that `reflector --help` shows it under, in that order."""

COMMANDS: dict[str, Entry] = {
    name: entry for commands in HEADINGS.values() for name, entry in commands.items()
}
