"""The settings that there are: one table of keys, each with its default and what it may be."""

from __future__ import annotations

import re
from dataclasses import dataclass

from reflector.memory.shares import CEILINGS, FLOORS, WEIGHTS
from reflector.pipelines.diary.constants import WRITTEN

Value = str | int | float | bool | tuple[str, ...]

_SMALL = re.compile(r"[0-9]{1,3}\Z", re.ASCII)


@dataclass(frozen=True, slots=True)
class Key:
    """One setting. `choices` closes a string; `least` is the smallest number allowed.

    `most` makes a list one of `name=number` with the default's names and numbers up to it; names
    that are left out keep their default. `hours` makes a string one that `off_peak` can read.
    """

    name: str
    default: Value
    says: str
    choices: tuple[str, ...] = ()
    least: int = 0
    most: int = 0
    hours: bool = False

    @property
    def variable(self) -> str:
        """Return the environment variable that sets this key."""
        return "REFLECTOR_" + self.name.replace(".", "_").upper()

    @property
    def told(self) -> str:
        """Say what the key does, and which words it takes."""
        words = f" One of {', '.join(self.choices)}." if self.choices else ""
        return self.says + words

    @property
    def expected(self) -> str:
        """Say what a value must be."""
        if self.choices:
            return "one of " + ", ".join(repr(choice) for choice in self.choices)
        if isinstance(self.default, tuple):
            return self._expected_list
        if isinstance(self.default, bool):
            return "true or false"
        if isinstance(self.default, int | float):
            whole = "" if isinstance(self.default, float) else "whole "
            return f"a {whole}number of at least {self.least}"
        return "hours such as '22:00-07:00', or nothing" if self.hours else "a string"

    @property
    def _expected_list(self) -> str:
        if not self.most:
            return "a list of strings that are not empty"
        names = ", ".join(self.names)
        return f"a list of name=number, names of {names}, numbers {self.least} to {self.most}"

    @property
    def names(self) -> tuple[str, ...]:
        """Return the names that a list of `name=number` may hold."""
        texts = self.default if isinstance(self.default, tuple) else ()
        return tuple(text.partition("=")[0] for text in texts)

    def takes(self, text: str) -> bool:
        """Tell whether one string may stand in the list."""
        if not self.most:
            return bool(text.strip())
        name, _, number = text.partition("=")
        within = _SMALL.match(number) and self.least <= int(number) <= self.most
        return name in self.names and bool(within)

    @property
    def shown(self) -> str:
        """Write the default for a person."""
        return in_toml(self.default)


KEYS: tuple[Key, ...] = (
    Key(
        "engine.name",
        "rules",
        "Who writes the reflections.",
        choices=("rules", "anthropic", "command"),
    ),
    Key("engine.model", "", "The model that the engine asks; empty takes the engine's own."),
    Key("engine.base_url", "", "The address of a server that speaks the Messages API."),
    Key("engine.command", "", "An agent CLI: claude, codex, opencode, or a command line."),
    Key("models.small", "", "The model of small calls (extraction); empty takes `engine.model`."),
    Key("models.fallback", (), "Models tried in order when the first refuses or is not there."),
    Key("models.temperature", "", "The sampling temperature; empty sends none."),
    Key("snapshot.max_bytes", 131_072, "Bytes of one conversation that one run reads.", least=1),
    Key("run.max_bytes", 262_144, "Bytes of all conversations that one run reads.", least=1),
    Key("run.max_tokens", 400_000, "Tokens that one run may use.", least=1),
    Key("run.max_turns", 60, "Requests that one run may make.", least=1),
    Key("run.max_cost_usd", 0.5, "Dollars that one run may cost."),
    Key("run.timeout_minutes", 30, "Minutes after which a run is stopped.", least=1),
    Key(
        "sandbox",
        "auto",
        "Whether runs that ask a model are confined: where it works, always, or never.",
        choices=("auto", "required", "off"),
    ),
    Key(
        "merge",
        "auto",
        "Whether a run is merged by itself, or waits for your review.",
        choices=("auto", "review"),
    ),
    Key("journal.exclude", (), "Folders whose conversations are never recorded (patterns)."),
    Key("journal.headless", True, "Whether sessions without a person are recorded."),  # noqa: FBT003 - a default
    Key("reflection.enabled", True, "Whether automatic reflections start."),  # noqa: FBT003 - a default
    Key("trigger.step_count", 25, "Steps of a conversation that start a run; 0 turns this off."),
    Key("trigger.on_compaction", True, "Whether a compaction starts a run."),  # noqa: FBT003 - a default
    Key("dream.enabled", True, "Whether idle hours start a dream (not with `rules`)."),  # noqa: FBT003 - a default
    Key("dream.idle_minutes", 30, "Minutes without an entry that count as idle."),
    Key("dream.min_hours_between", 24, "Least hours between two dreams."),
    Key("dream.max_conversations", 5, "Conversations that one dream reads.", least=1),
    Key("decisions.enabled", True, "Whether project decisions are extracted and shown."),  # noqa: FBT003 - a default
    Key("decisions.interval_minutes", 5, "Least minutes between two consolidations."),
    Key(
        "decisions.admission",
        "law",
        "Whether a decision enters once friction shows that it matters, or always.",
        choices=("law", "all"),
    ),
    Key("experiences.enabled", True, "Whether experiences and facts are extracted."),  # noqa: FBT003 - a default
    Key("experiences.quiet_minutes", 10, "Quiet minutes after which a segment is read.", least=1),
    Key(
        "experiences.scene",
        "",
        "What segments count as: coding, working, chat; all else asks the model each time.",
    ),
    Key(
        "experiences.verbatim_fallback",
        False,  # noqa: FBT003 - a default
        "Whether your own words become a fact when extraction failed for good.",
    ),
    Key("facts.keep_days", 365, "Days after which a fact that nobody recalled is archived."),
    Key("recall.inject", False, "Whether what a prompt recalls is shown with it."),  # noqa: FBT003 - a default
    Key("diary.enabled", False, "Whether a diary of the relationship is kept."),  # noqa: FBT003 - a default
    Key("diary.budget_tokens", 3000, "Estimated tokens of the diary in the block.", least=300),
    Key("diary.nickname", "", "What the diary calls you; empty leaves you without a name."),
    Key(
        "diary.generalise_third_parties",
        True,  # noqa: FBT003 - a default
        "Whether names, numbers and places of others are made general before they are kept.",
    ),
    Key("diary.debug_log", False, "Whether what comes to mind is noted by its id, for you alone."),  # noqa: FBT003 - a default
    Key(
        "diary.recall",
        WRITTEN,
        "When and how much comes to mind (hundredths, days, turns).",
        most=100,
    ),
    Key("diary.curiosity_days", 2, "Least days between two questions that nobody asked for."),
    Key(
        "jobs.off_peak",
        "",
        "Local hours for diary jobs, `22:00-07:00`; empty is any time.",
        hours=True,
    ),
    Key("day.max_runs", 40, "Runs a day and slot that call a model."),
    Key("day.max_cost_usd", 2.0, "Dollars a day for everything that calls a model."),
    Key("supervisor.max_runs", 2, "Runs of all identities at once on this machine.", least=1),
    Key("journal.keep_days", 365, "Days after which journal text is aged out; 0 keeps it."),
    Key("short_memory.enabled", True, "Whether MEMORY.md files are shown to agents."),  # noqa: FBT003 - a default
    Key("notice", True, "Whether a session begins with what was learned."),  # noqa: FBT003 - a default
    Key("push.enabled", False, "Whether merges are pushed to `push.remote`."),  # noqa: FBT003 - a default
    Key("push.remote", "", "The URL of your own repository that mirrors the memory."),
    Key("log.steps", True, "Whether every call of a model leaves a record in its run."),  # noqa: FBT003 - a default
    Key("prompt.budget_tokens", 2000, "Estimated tokens of the compiled block.", least=300),
    Key("prompt.max_chars", 8000, "Characters of the compiled block.", least=1200),
    Key("prompt.floors", FLOORS, "Least percent of the block for a section.", most=90),
    Key("prompt.ceilings", CEILINGS, "Most percent of the block for a section.", most=100),
    Key("prompt.weights", WEIGHTS, "How sections share what is left.", least=1, most=99),
)


def in_toml(value: Value) -> str:
    """Write a value as in a settings file, a string without its quotes."""
    if isinstance(value, tuple):
        return f"[{', '.join(map(repr, value))}]"
    return str(value).lower() if isinstance(value, bool) else str(value)
