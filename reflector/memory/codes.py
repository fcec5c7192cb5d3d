"""What the validator can say: every finding's code, rule, severity, consequence and sentence."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final, Literal

from reflector.core.redact import find_secrets
from reflector.memory.finding import Finding, Severity
from reflector.memory.tree import readable

Consequence = Literal["failed", "dirty_uncommitted", "awaiting_review", "none"]


@dataclass(frozen=True, slots=True)
class Code:
    """One row: the numbered rule (ENGINE 11), what a finding of it does, and its sentence."""

    rule: int
    consequence: Consequence
    sentence: str

    @property
    def severity(self) -> Severity:
        """Return `error` for what refuses a run, `warning` for what does not."""
        return "error" if self.consequence in ("failed", "dirty_uncommitted") else "warning"


RULES: Final[dict[str, Code]] = {
    # 1: the chain
    "head_moved": Code(1, "failed", "HEAD is {found}, not the reserved branch {wanted}."),
    "not_from_base": Code(1, "failed", "The commits do not start at the run's base {base}."),
    "tip_mismatch": Code(1, "failed", "The commits do not end at the recorded tip {tip}."),
    "not_single_parent": Code(1, "failed", "Commit {sha} has {count} parents instead of one."),
    "too_many_commits": Code(1, "failed", "The run made {count} commits, more than {limit}."),
    # 2: what is left in the worktree
    "uncommitted_change": Code(2, "dirty_uncommitted", "The change was not committed."),
    "untracked_document": Code(2, "dirty_uncommitted", "The file was not committed."),
    "untracked_scratch": Code(2, "none", "A scratch file outside the memory was set aside."),
    # 3: paths, modes, sizes, bytes
    "path_escapes": Code(3, "failed", "{sentence}"),
    "path_backslash": Code(3, "failed", "{sentence}"),
    "path_control": Code(3, "failed", "{sentence}"),
    "path_not_nfc": Code(3, "failed", "{sentence}"),
    "path_git_name": Code(3, "failed", "{sentence}"),
    "path_too_long": Code(3, "failed", "{sentence}"),
    "path_collision": Code(3, "failed", "The name collides with {other} on some file systems."),
    "outside_layout": Code(
        3, "failed", "Memory lives in {folders} and ARCHIVE.md; this path is outside them."
    ),
    "seed_changed": Code(3, "failed", "A run may not change the repository's own settings."),
    "symlink": Code(3, "failed", "The path is a symbolic link."),
    "submodule": Code(3, "failed", "The path is a submodule."),
    "executable": Code(3, "failed", "Only files under skills/*/scripts/ may be executable."),
    "bad_mode": Code(3, "failed", "The file has the mode {mode}."),
    "file_too_large": Code(3, "failed", "The file has {size} bytes, more than {limit}."),
    "run_too_large": Code(3, "failed", "The run wrote {size} bytes, more than {limit}."),
    "not_utf8": Code(3, "failed", "{sentence}"),
    "nul_byte": Code(3, "failed", "The file holds a NUL byte (UTF-16 text, or binary)."),
    "not_lf": Code(3, "failed", "The line does not end with LF alone."),
    "conflict_marker": Code(3, "failed", "A merge conflict was left in the file."),
    "not_a_document": Code(
        3, "none", "The file is no .md document, so nobody is told that it is there."
    ),
    # 4: headers
    "header_missing": Code(4, "failed", "{sentence}"),
    "header_unclosed": Code(4, "failed", "{sentence}"),
    "header_not_yaml": Code(4, "failed", "{sentence}"),
    "header_not_mapping": Code(4, "failed", "{sentence}"),
    "header_not_plain": Code(4, "failed", "{sentence}"),
    "header_key": Code(4, "failed", "{sentence}"),
    "header_duplicate_key": Code(4, "failed", "{sentence}"),
    "header_value": Code(4, "failed", "{sentence}"),
    "description_missing": Code(4, "failed", "{sentence}"),
    "description_empty": Code(4, "failed", "{sentence}"),
    "description_not_text": Code(4, "failed", "{sentence}"),
    "description_lines": Code(4, "failed", "{sentence}"),
    "description_too_long": Code(4, "failed", "{sentence}"),
    "read_only_value": Code(4, "failed", "{sentence}"),
    "read_only_not_text": Code(4, "none", 'Write read_only: "true", in quotes.'),
    "name_missing": Code(4, "failed", "The header of a SKILL.md needs a one-line 'name'."),
    "unknown_key_changed": Code(4, "failed", "A run may not change or drop the key {key}."),
    "read_only_changed": Code(4, "failed", "The document is read-only."),
    "read_only_removed": Code(4, "failed", "The document is read-only and was removed or renamed."),
    # 5: what a run may not take away
    "boundaries_changed": Code(5, "failed", "No run may change the user's boundaries."),
    "persona_removed": Code(5, "failed", "The persona may not be removed or renamed."),
    "persona_emptied": Code(5, "failed", "The persona may not be emptied."),
    "persona_rewritten": Code(
        5, "failed", "Only {kept} of the persona's {total} lines survive; edit single lines."
    ),
    "unexplained_deletion": Code(
        5,
        "failed",
        "{lost} lines went away; add a dated line to ARCHIVE.md, or an 'Updates:' item that"
        " starts with 'forget:' or 'wrong:'.",
    ),
    # 6: skills
    "skill_description": Code(
        6, "failed", "The description of a skill begins 'This skill should be used when'."
    ),
    "skill_folder": Code(
        6, "failed", "The folder of a skill has a kebab-case name of at most {limit} characters."
    ),
    "skill_name": Code(6, "failed", "The name {name} is not that of the folder, {folder}."),
    "skill_too_long": Code(
        6, "failed", "The skill has {count} words, more than {limit}; use references/."
    ),
    "skill_path_missing": Code(6, "failed", "The skill names {named}, which does not exist."),
    "skill_deprecation": Code(
        6,
        "failed",
        "A deprecated skill opens with a paragraph that says why, and what to use instead.",
    ),
    "skill_replacement": Code(
        6, "failed", "'replaced_by' names {named}, which is no other skill or document."
    ),
    "skill_operations": Code(
        6, "failed", "The run did {count} things to skills, this one among them; one is allowed."
    ),
    "skill_still_named": Code(
        6, "failed", "The line still points to {target}, a skill that was removed."
    ),
    # 7: what points elsewhere, and the page about itself
    "link_broken": Code(7, "failed", "The link leads to {target}, which was moved or deleted."),
    "points_nowhere": Code(
        7, "none", "The line still points to {target}, which was moved or deleted."
    ),
    "self_aware_full": Code(7, "failed", "The page has {count} entries, more than twelve."),
    # 8: text that must not get in
    "secret": Code(8, "failed", "The line holds a secret ({kind})."),
    "secret_in_path": Code(8, "failed", "The path holds a secret ({kind})."),
    "secret_in_message": Code(8, "failed", "The commit message holds a secret ({kind})."),
    "agent_id_literal": Code(8, "failed", "The line holds the variable $AGENT_ID, not its value."),
    "relative_date": Code(8, "none", "'{word}' means nothing later; write the date."),
    # 9: the budget, and the one document of a dream
    "system_over_budget": Code(
        9,
        "failed",
        "All of system/ takes {tokens} tokens as it is shown, more than {limit}; merge, demote or"
        " archive until it fits or is at least smaller than before.",
    ),
    "outside_target": Code(9, "failed", "The run was to change {target} and nothing else."),
    # 10: commit messages
    "message_subject": Code(
        10, "failed", "The subject is not '<fix|feat|chore>(<pipeline>): <summary>'."
    ),
    "message_pipeline": Code(10, "failed", "The subject does not name the pipeline {wanted}."),
    "message_body": Code(10, "failed", "No blank line follows the subject."),
    "message_updates": Code(10, "failed", "The message has no 'Updates:' list with '- ' items."),
    "message_generated_by": Code(
        10, "failed", "The message has no trailer 'Generated-By: agent memory'."
    ),
    "message_agent_id": Code(10, "failed", "The trailer 'Agent-ID:' is empty; leave it out."),
    # 12: evidence
    "no_user_evidence": Code(
        12,
        "awaiting_review",
        "No 'Updates:' item that starts with this path names a user entry of the run ([entry ID]).",
    ),
    "not_observed": Code(
        12,
        "awaiting_review",
        "The line was no observation in reference/self/observations.md before this run.",
    ),
    "script_changed": Code(12, "awaiting_review", "A script is new or changed."),
    # 13: what a person took back
    "undone_before": Code(
        13, "awaiting_review", "A person undid or rejected this line; it is written again."
    ),
    # 14: experiences and facts
    "stored_broken": Code(14, "failed", "{sentence}"),
    "stored_lacking": Code(14, "none", "{sentence} As it is, it is read as a plain document."),
    "stored_twin": Code(14, "failed", "{other} has the same id."),
    "stored_copied": Code(14, "none", "{other} has the same id; commands reach only one of them."),
    "chain_broken": Code(14, "failed", "{sentence}"),
    "chain_loose": Code(14, "none", "{sentence}"),
}


def finding(code: str, path: str = "", line: int = 0, **facts: object) -> Finding:
    """Make a finding of a row of `RULES`; its path is shown readable and without secrets."""
    row = RULES[code]
    return Finding(code, row.severity, shown(path), line, row.sentence.format(**facts))


def shown(path: str) -> str:
    """Write a path for people: what cannot be seen is escaped, what is secret is left out."""
    if find_secrets(path):
        parts = ("[REDACTED]" if find_secrets(part) else part for part in path.split("/"))
        path = "/".join(parts)
        if find_secrets(path):
            return "[REDACTED]"
    return readable(path)
