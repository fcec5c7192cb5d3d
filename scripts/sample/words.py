"""What the sample memory says: documents, skills, short memory, conversations."""

from __future__ import annotations

from collections.abc import Iterator

from reflector.core.bank import bank_id
from reflector.memory.experiences.form import Layer, Stored, path_for, render

SHOP = bank_id("shop", "github.com/example/shop")
PRESS = bank_id("press", "github.com/example/press")
TOOLS = bank_id("tools", "github.com/example/tools")

_TOPICS = {
    "deploy": "how the shop is released, and how a release is taken back",
    "database": "tables, migrations and the copy that tests run against",
    "payments": "the provider, its webhooks and what is retried",
    "search": "the index of products and how it is filled",
    "mail": "which mails are sent, and the queue they wait in",
    "images": "sizes, formats and where originals lie",
    "accounts": "sign-up, sessions and what is kept of a person",
    "monitoring": "dashboards, alerts and who is woken",
    "translations": "where texts live and how they reach the pages",
    "performance": "budgets of pages and what was measured",
    "accessibility": "what every page must allow a keyboard to do",
    "backups": "what is saved, how often, and the last test of it",
}
_PARTS = ("overview", "pitfalls")
_EXPERIENCES = (
    "A migration that locks a table is split in two: add the column, then fill it in batches.",
    "A flaky test of the checkout waited for a timer; it waits for the event now.",
    "The image worker ran out of memory on animated files; frames are read one at a time.",
    "A webhook arrived before its order was written; the handler retries for a minute.",
    "The index lagged after a bulk import; the import pauses every thousand rows.",
    "Two releases at once mixed their assets; the release takes a lock.",
    "A cache key without the language showed German prices to everyone.",
    "A mail template broke on a missing name; templates are rendered for an empty person in tests.",
    "The staging certificate ran out on a Sunday; renewal is checked every morning.",
    "A time zone in a cron line moved a report by an hour twice a year.",
)
_FACTS = (
    "The shop has three environments: local, staging and production.",
    "Staging is rebuilt from production every Monday, without people's addresses.",
    "The press site is static and is built on every push.",
    "The payment provider sends webhooks at most five times.",
    "Product images are kept as originals for ever, and as three sizes.",
    "The tools repository holds the command line that support uses.",
)
_SKILLS = {
    "release-the-shop": "a release of the shop is prepared, made or taken back",
    "write-a-migration": "a table of the shop's database changes",
    "chase-a-flaky-test": "a test fails now and then",
    "add-a-language": "a page or a mail has to speak another language",
    "restore-a-backup": "data has to come back from a backup",
}
_BANKS = {
    SHOP: (
        "- The checkout is one process; workers talk to it through the queue alone.",
        "- Prices are shown with tax; net prices only to business accounts.",
        "- Buttons say what happens, never just OK.",
    ),
    PRESS: (
        "- Pages are built once and served as files; nothing is rendered on request.",
        "- A press release is public the moment it is merged.",
        "- Headlines are sentences, without a full stop.",
    ),
    TOOLS: (
        "- One command, one module; no command opens the database itself.",
        "- Every command that changes something has --dry-run.",
        "- Output is short, and machine-readable with --json.",
    ),
}

SHORT_MEMORY = """# Memory

- [tabs] Makefiles are indented with tabs, everything else with four spaces.
- [answers] Short answers first, reasons after.
  A list only where there are three things or more.
- [hours] No releases after three on a Friday.
"""
PROJECT_MEMORY = """# Memory

- [port] The shop runs on port 8123 here, since 8000 is taken.
- [seed] `make seed` before the end-to-end tests.
"""


def document(description: str, title: str, *lines: str) -> bytes:
    """Return one document."""
    body = "\n".join(lines)
    return f"---\ndescription: {description}\n---\n\n# {title}\n\n{body}\n".encode()


def chapters() -> dict[str, dict[str, bytes]]:
    """Return the documents by the reason of the commit that adds them."""
    return {
        "Write down what is known of the shop": dict(_reference()),
        "Note the decisions of three projects": dict(_banks()),
        "Keep what was learned the hard way": dict(_items("experience", _EXPERIENCES)),
        "Keep facts": dict(_items("fact", _FACTS)),
    }


def skills() -> dict[str, dict[str, bytes]]:
    """Return the skills, each by the reason of its commit."""
    return {
        f"Add the skill {name}": {
            f"skills/{name}/SKILL.md": _skill(name, when),
            f"skills/{name}/references/checklist.md": document(
                f"what to check when {when}",
                "Checklist",
                "- Is somebody told?",
                "- Is it undone easily?",
            ),
        }
        for name, when in _SKILLS.items()
    }


def _reference() -> list[tuple[str, bytes]]:
    found = []
    for topic, about in _TOPICS.items():
        for part in _PARTS:
            other = next(each for each in _PARTS if each != part)
            lines = [
                f"- {topic.capitalize()}, point {number}: settled on 2026-0{number + 2}-1{number}."
                for number in range(1, 6)
            ]
            link = f"See [[reference/{topic}/{other}.md|{other}]]."
            path = f"reference/{topic}/{part}.md"
            found.append(
                (
                    path,
                    document(
                        f"{about} ({part})", f"{topic.capitalize()}: {part}", *lines, "", link
                    ),
                )
            )
    return found


def _banks() -> list[tuple[str, bytes]]:
    kinds = ("architecture", "product", "style")
    return [
        (
            f"projects/{bank}/{kind}.md",
            document(f"{kind} decisions of {bank}", kind.capitalize(), line),
        )
        for bank, lines in _BANKS.items()
        for kind, line in zip(kinds, lines, strict=True)
    ]


def _items(layer: Layer, lines: tuple[str, ...]) -> Iterator[tuple[str, bytes]]:
    for number, line in enumerate(lines, 1):
        which = f"{number if layer == 'experience' else number + 0x100:08x}"
        created = f"2026-10-{number:02d}T09:00:00.000Z"
        title = line.partition(";")[0].rstrip(".") if layer == "experience" else "the shop"
        path = path_for(layer, title, which, created)
        item = Stored(layer, which, path, title, line, created, project=SHOP, source="manual")
        yield path, render(item)


def _skill(name: str, when: str) -> bytes:
    steps = (
        "1. Say what is going to happen, and to whom.",
        "2. Work through `references/checklist.md`.",
        "3. Do one step at a time, and look at the result of each.",
        "4. Write down what was different this time.",
    )
    head = f"---\nname: {name}\ndescription: This skill should be used when {when}.\nversion: 1.0.0\n---\n"
    return (
        head + f"\n# {name.replace('-', ' ').capitalize()}\n\n" + "\n".join(steps) + "\n"
    ).encode()


TALKS: tuple[tuple[str, tuple[str, ...]], ...] = (
    (
        "tabs",
        (
            "Please tidy the Makefile. Always use tabs in Makefiles.",
            "Done: every recipe is indented with a tab.",
            "Remember that the shop runs on port 8123 on this machine.",
            "Noted.",
        ),
    ),
    (
        "releases",
        (
            "Prepare the release. Never push to main directly.",
            "I opened a pull request instead.",
            "We use uv, not pip, for installing packages.",
            "Understood; I used uv.",
        ),
    ),
    ("small-talk", ("Thanks, that was quick!", "You are welcome.")),
    (
        "wrong-turn",
        ("Always answer in English, even to German questions.", "I will answer in English."),
    ),
    (
        "secrets",
        (
            "The staging password: tr0ub4dor-sample. Always ask before you deploy.",
            "I will ask first.",
        ),
    ),
)
