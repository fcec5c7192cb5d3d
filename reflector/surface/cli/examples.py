"""One example of each command, printed under its help."""

from __future__ import annotations

from reflector.surface.cli.commands import COMMANDS, Group

_ALL = """
init --engine claude
install claude-code --dry-run
reflect ~/.claude/projects/shop/session.jsonl
status
prompt --cwd ~/src/shop --explain
memory ls reference
memory cat system/human.md
memory create reference/hosts.md "# Hosts" --description "Our hosts." --reason "note the hosts"
memory replace system/human.md --old tabs --new spaces --reason "we changed our mind"
memory insert reference/hosts.md "- staging: port 5433" --reason "note the port of staging"
memory delete reference/hosts.md --reason "the hosts are gone"
memory rename reference/hosts.md reference/machines.md --reason "a better name"
memory describe reference/hosts.md "Our hosts and their ports." --reason "say what it holds"
memory apply-patch --file change.patch --reason "sort the hosts"
memory commit --reason "what I edited by hand"
memory tokens system
memory lint --worktree
memory log system/human.md
memory why system/human.md:8
memory restore system/human.md@2026-11-30
memory forget "staging.example.com" --dry-run
recall "how do we deploy"
search "make test" --kind user --since 30d
short-memory check
short-memory policy
short-memory add indent "Indent with spaces."
short-memory set indent "Indent with tabs."
short-memory remove indent
decisions show
decisions queue
decisions stats
decisions consolidate --force
decisions diagnose
decisions banks
decisions add --kind constraint "Amounts of money are Decimal." --because "floats lose cents"
decisions move shop-1a2b3c4d shop-5e6f7a8b
decisions clear --bank shop-1a2b3c4d
decisions forget 12
decisions why "Amounts of money"
decisions admit < candidates.json
decisions envelope < conversation.json
experiences list --all
experiences show 01ab
experiences history 01ab
experiences forget 01ab
experiences stats
experiences parse < reply.txt
experiences extract --dry-run
facts list --all
facts show 01ab --details
facts history 01ab
facts forget 01ab
facts stats
diary read
diary note "She wants the failing test first, then the mend."
diary skip
diary forget "the old flat" --dry-run
diary preview --query "how was your day"
diary stats
diary undo
diary tidy
diary export diary.pack --passphrase
diary import diary.pack --merge
diary burn
runs --limit 5
show 20261130T0912 --diff
undo 20261130T0912
retry 20261130T0912
review list
review show 20261130T0912
review approve 20261130T0912
review reject 20261130T0912 --reason "only true of one project"
dream --doc reference/hosts.md
ingest --history claude-code
uninstall claude-code
event settled --conversation talk-1
supervise --once
mcp --http --port 8377
redact < session.log
pause --for 2h
resume
config show
doctor --fix
park clear
sweep --dry-run
"""


def _named(line: str) -> str:
    """Return the name of the command that a line begins with: words before the first argument."""
    first, second = (*line.split(" ", 2), "")[:2]
    return f"{first} {second}" if isinstance(COMMANDS[first], Group) else first


EXAMPLES = {f"reflector {_named(line)}": f"reflector {line}" for line in _ALL.strip().splitlines()}
"""By the name of the command, as a shell takes them."""
