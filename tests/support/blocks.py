"""Two memories whose blocks are golden files, and the command that rewrites them.

`python -m tests.support.blocks` writes tests/golden/compiled-block*.txt anew; read the diff as an
agent would before keeping it.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from reflector.core.bank import bank_id
from reflector.core.sentinel import closing, escape, opening
from reflector.memory.compile import Block, BlockOptions, compile_block
from reflector.memory.short_memory import Given, ShortMemory, parse, render
from reflector.memory.short_memory_shown import element
from reflector.memory.view import Gist, MemoryView, Named, Shown, Skill, gist, view_of
from reflector.pipelines.contexts import PrefaceContext, ShortMemoryContext
from reflector.pipelines.prompts import Words

ROOT = Path(__file__).resolve().parents[2]
GOLDEN = ROOT / "tests" / "golden"

OPTIONS = BlockOptions(
    preface=(
        "This is your memory across conversations. Consult it before you ask.",
        "It is reference only: the current request outranks it.",
        "To read more: /usr/bin/reflector memory cat PATH",
    ),
)
SMALL = MemoryView(
    identity="default",
    revision="0123456789ab",
    system=(
        Shown("system/human.md", "Who I work with", "Prefers pnpm.\nLikes `List<int>`, a < b.\n"),
        Shown("system/identity.md", "My name", "I am called Kestrel.\n"),
        Shown("system/persona.md", "Who I am", "I am careful.\n"),
        Shown("system/style/python.md", "Python", "Ruff, strict mypy."),
        Shown("system/boundaries.md", "What not to do", "- Never force-push.\n"),
        Shown("system/blank.md", "Nothing yet", " \n"),
    ),
    others=(
        Named("ARCHIVE.md", ""),
        Named("projects/web/architecture.md", "How the web app is built"),
        Named("projects/web/style.md", "Its style"),
        Named("reference/api.md", "The public API"),
    ),
    skills=(
        Skill(
            "cut-release", "This skill should be used when releasing", "skills/cut-release/SKILL.md"
        ),
    ),
    bank="web",
)

BANK = bank_id("shop", "github.com/acme/shop")
_OTHERS = (bank_id("docs", "/home/dev/docs"), bank_id("importer", "gitlab.com/acme/importer"))
_WHEN = "This skill should be used when"

_SYSTEM = {
    "persona": (
        "Who the agent is and how it works.",
        (
            "# Persona\n\nI am a coding agent with a memory that outlives the conversation.\n\n"
            "I look here before I ask, I do what the present request says even where this memory says"
            " otherwise, and I say so when the two disagree. I name what I did not verify."
        ),
    ),
    "human": (
        "Who I work with, and the preferences that hold in every conversation.",
        (
            "# Human\n\n## Preferences\n\n- Prefers pnpm over npm (2026-09-02)\n"
            "- Answer in German when asked in German (2026-09-14)\n"
            "- 回答中文问题时请用简体中文，代码注释用英文 (2026-09-20)\n"
            "- Short answers first, details when asked (2026-10-01)\n"
            "- Use `List<int>` style generics in examples, not raw types (2026-10-11)\n"
            "- Times in UTC, dates as ISO 8601 (2026-10-30)\n\n"
            "## Corrections\n\n- The staging database listens on 5433, not 5432 (2026-11-03)\n"
            "- «Готово» значит: тесты прошли, а не код написан (2026-11-09)\n"
            "- テストを消して緑にしない (2026-11-12)"
        ),
    ),
    "boundaries": (
        "What I must not do, in the user's own words; only a person adds to it.",
        (
            "# Boundaries\n\n- Never force-push to a shared branch.\n"
            "- Never run migrations against production without asking.\n"
            "- Do not send anything to outside services from tests."
        ),
    ),
    "self-aware": (
        "Confirmed observations about how I work, at most twelve.",
        (
            "# Self-aware\n\n- I tend to rerun the whole suite when one file would do (2026-10-02)\n"
            "- I guess flag names of rarely used tools; reading `--help` first saves a round (2026-11-01)"
        ),
    ),
    "style/python": (
        "How Python is written here.",
        (
            "Ruff with all rules, strict mypy, functions of at most 20 lines. `pathlib`, not `os.path`."
            " Tests are sentences; nothing sleeps."
        ),
    ),
    "style/writing": (
        "How texts for people are written.",
        "Plain words, one thought per sentence, no exclamation marks. Headings in sentence case.",
    ),
}
_REFERENCE = {
    "api/errors": "Error codes of the public API and which of them a client may retry.",
    "api/pagination": "Cursor pagination: why offsets were given up, limits, an example.",
    "api/webhooks": "Signing and replay protection of webhooks.",
    "build/ci": "What CI runs, in which order, and how to repeat one job locally.",
    "build/release": "Versioning, changelog and the two approvals of a release.",
    "build/node": "Which Node versions are supported and where they are pinned.",
    "database/backups": "Where backups lie, how old they may be, how a restore is rehearsed.",
    "database/migrations": "Rules for migrations that run while the old version still serves.",
    "database/索引": "索引命名规则与慢查询排查步骤。",
    "decisions": "Decisions that the person reported, by project; read before proposing another way.",
    "editor": "Editor settings that the person uses.",
    "facts": "Facts that the person asked to remember, by project.",
    "glossary": "Words of the business: order, basket, settlement, chargeback.",
    "monitoring": "Dashboards, alert thresholds, who is woken by what.",
    "preferences": "More preferences; read before choosing tools or style.",
    "security/secrets": "Where secrets come from, and what must never be logged.",
    "security/zugänge": "Welche Zugänge es gibt und wie sie beantragt werden.",
    "self/observations": "Unconfirmed observations about how I work, each with date and evidence.",
}
_EXPERIENCES = {
    "flaky-clock": "A test that failed at midnight: clocks are passed in, never read.",
    "lost-update": "Two workers wrote one row; compare-and-set by version mended it.",
    "n-plus-one": "The basket page asked the database once per line; one join did it.",
    "npm-lockfile": "A lockfile written by npm broke the pnpm build; delete it, never commit both.",
    "slow-import": "The nightly import was slow by its index rebuilds, not by its parsing.",
    "unicode-paths": "NFC and NFD names of one file on two machines; normalise on entry.",
    "webhook-retries": "A retried webhook charged twice; the idempotency key comes from the sender.",
    "время-жизни-кэша": "Кэш жил дольше сессии: старые цены после скидки.",
    "型の推論": "型推論に頼りすぎて、公開 API の型が変わった件。",
}
_FACTS = {
    "build-server": "The build server has two cores; the suite needs nine minutes there.",
    "currency": "Amounts are integers of the smallest unit.",
    "mail": "Mail goes through a queue; sending can lag by five minutes.",
    "ports": "Staging database 5433, cache 6380, preview 8081.",
    "retention": "Invoices are kept for ten years, logs for ninety days.",
    "search": "Search indexes are rebuilt on Sundays.",
    "tenants": "There are three tenants in one database, told apart by a column.",
    "时区": "报表按上海时区统计，存储用 UTC。",
    "zertifikate": "Zertifikate laufen im März und im September ab.",
}
_SKILLS = {
    "cut-release": f"{_WHEN} a release is asked for: version, changelog, tag, announcement.",
    "debug-import": f"{_WHEN} the nightly import failed or took longer than an hour.",
    "memory-discipline": f"{_WHEN} a task may depend on something learned earlier.",
    "review-migration": f"{_WHEN} a database migration is written or reviewed.",
    "write-webhook-test": f"{_WHEN} webhooks are added or changed.",
}
_USER_FILE = """# Memory

- [pnpm] Use pnpm, never npm or yarn.
- [tone] No praise, no apologies; say what you did and what you did not.
- [lang] 我用中文提问时，请用中文回答。
"""
_PROJECT_FILE = """# Memory

- [prices] Prices are integers in cents; <b>never</b> floats.
- [branch] Work on a branch per ticket, squash when merging.
  The ticket number goes into the subject.
"""


def wrap(identity: str, revision: str, body: str) -> str:
    """Put a body between the comments of a block."""
    return f"{opening(identity, revision)}\n{body}\n{closing(identity)}"


def rich(tokens: int = 2000) -> Block:
    """Compile a memory of about 60 documents as a session in one of its three projects sees it."""
    words = Words(ROOT)
    command = "/home/dev/.reflector/bin/reflector memory cat PATH"
    options = BlockOptions(
        preface=words.preface(PrefaceContext(read_more=command)).rstrip("\n").split("\n"),
        budget_tokens=tokens,
        max_chars=tokens * 4,
        short=_short_memory(words),
    )
    return compile_block(view_of("default-37a8eec1", "3f1c9a7be024", gists(), BANK), options)


def gists() -> Mapping[str, Gist]:
    """Return what the block needs of every document of the rich memory."""
    return {path: found for path, raw in files().items() if (found := gist(path, raw))}


def files() -> dict[str, bytes]:
    """Return the documents of the rich memory."""
    found = {f"system/{name}.md": _document(*both) for name, both in _SYSTEM.items()}
    for folder, table in (
        ("reference", _REFERENCE),
        ("experiences", _EXPERIENCES),
        ("facts", _FACTS),
    ):
        found |= {f"{folder}/{name}.md": _document(about) for name, about in table.items()}
    for bank in (BANK, *_OTHERS):
        name = bank.rpartition("-")[0]
        for part, about, decided in (
            (
                "architecture",
                f"How {name} is built, and what was decided against.",
                "## Storage\n\n- Jobs are queued in SQLite, not in Redis.",
            ),
            (
                "product",
                f"What {name} does and what it leaves out.",
                f"## Export\n\n- {name} exports are sorted by date, oldest first.",
            ),
            (
                "style",
                f"Look, layout and tone of {name}.",
                "## Status bar\n\n- Solid right edge, no bold.",
            ),
        ):
            body = f"# {part.capitalize()}\n\n{decided}"
            found[f"projects/{bank}/{part}.md"] = _document(about, body)
    for name, about in _SKILLS.items():
        found[f"skills/{name}/SKILL.md"] = _document(about, extra=f"name: {name}\n")
    return found | {"ARCHIVE.md": _document("What was retired but may matter, with dates.")}


def _document(about: str, body: str = "Text.", extra: str = "") -> bytes:
    return f"---\n{extra}description: {about!r}\n---\n{body}\n".encode()


def _short_memory(words: Words) -> ShortMemory:
    user, root = "/home/dev/.reflector/MEMORY.md", "/home/dev/shop"
    project = f"{root}/.reflector/MEMORY.md"
    policy = words.short_memory_policy(ShortMemoryContext(user, project), full=False)
    given = (
        Given("user", user, element("user", user, render(parse(_USER_FILE).entries))),
        Given(
            "project",
            project,
            element("project", project, render(parse(_PROJECT_FILE).entries), root),
        ),
    )
    return ShortMemory(escape(policy.rstrip("\n")), given)


def rendered() -> dict[str, str]:
    """Return both blocks by the names of their golden files."""
    return {
        "compiled-block.txt": compile_block(SMALL, OPTIONS).text,
        "compiled-block-rich.txt": rich().text,
    }


def _rewrite() -> None:
    for name, text in rendered().items():
        (GOLDEN / name).write_text(text + "\n", encoding="utf-8")


if __name__ == "__main__":
    _rewrite()
