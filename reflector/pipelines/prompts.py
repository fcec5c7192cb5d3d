"""Personas and Jinja: the only place where text is rendered for a model or a fresh memory."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Literal

import jinja2
import yaml

from reflector.core.errors import NotFoundError
from reflector.pipelines.contexts import (
    McpContext,
    OpeningContext,
    PrefaceContext,
    PromptContext,
    SeedContext,
    ShortMemoryContext,
)
from reflector.pipelines.decisions.contexts import (
    DecisionRulesContext,
    EnvelopeContext,
    QueueContext,
)
from reflector.pipelines.diary.contexts import (
    DiaryItemsContext,
    DiaryJudgeContext,
    DiaryRulesContext,
    DiaryWindowContext,
)
from reflector.pipelines.experiences.contexts import (
    DraftsContext,
    ExperienceRulesContext,
    ExperienceTask,
    SegmentContext,
)

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

# The elements that our own templates open and close around foreign text.
_OWN_TAG = re.compile(
    r"<(?=/?(?:conversations|focus|do_not_write|memory_tree|system_documents|transcript|"
    r"previous_human|assistant_context|user_message|decision_files|deltas|already_documented|"
    r"context_only|segment|drafts|"
    r"last_sentence|last_messages|goes_on|impressions|diary_items|own_persona)\b)",
    re.IGNORECASE,
)
_HEADER = re.compile(r"---\n(.*?\n)---\n", re.DOTALL)
_FENCE = re.compile(r" {0,3}(```|~~~)")
_SEEDS = "seeds/"


@dataclass(frozen=True, slots=True)
class ToolWords:
    """What a model is told of a tool: its title, what it does, and each of its parameters."""

    title: str
    description: str
    parameters: Mapping[str, str]


@dataclass(frozen=True, slots=True)
class Persona:
    """An operating manual: `text` is the body without its header, `sections` by `##` heading."""

    name: str
    description: str
    sections: Mapping[str, str]
    text: str


class Words:
    """Everything that is said to a model, from one folder with `personas/` and `templates/`.

    Text of memories and transcripts is only ever a value here, never template source, and is not
    rendered a second time.
    """

    # Persona and template of each pipeline.
    _PIPELINES: ClassVar[Mapping[str, tuple[str, str]]] = MappingProxyType(
        {
            "reflection": ("reflection", "model/reflection.md"),
            "dream": ("dream", "model/reflection.md"),
        }
    )

    def __init__(self, folder: Path) -> None:
        """Open the folder. Nothing is read before it is asked for."""
        self._folder = folder
        self._personas: dict[str, Persona] = {}
        self._jinja = jinja2.Environment(
            loader=jinja2.FileSystemLoader(folder / "templates"),
            undefined=jinja2.StrictUndefined,
            autoescape=False,  # noqa: S701 - a model reads this, no browser does
            keep_trailing_newline=True,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        self._jinja.filters |= {"quoted": quoted, "shorten": shorten, "enclosed": enclosed}

    def seeds(self) -> tuple[str, ...]:
        """Return the repository paths of the seed documents, sorted."""
        root = self._folder / "templates" / _SEEDS
        found = (file.relative_to(root) for file in root.rglob("*") if file.is_file())
        return tuple(sorted(_seed_path(file.as_posix()) for file in found))

    def seed(self, name: str, context: SeedContext) -> str:
        """Render the seed document of that repository path."""
        if name not in self.seeds():
            raise NotFoundError(f"There is no seed document {name!r}.", path=name)
        return self._render(_SEEDS + _template_path(name), _values(context))

    def persona(self, name: str) -> Persona:
        """Return a persona, parsed once."""
        if name not in self._personas:
            file = self._folder / "personas" / f"{name}.md"
            if not file.is_file():
                raise NotFoundError(f"There is no persona {name!r}.", hint=_REINSTALL)
            self._personas[name] = parse_persona(file.read_text(encoding="utf-8"))
        return self._personas[name]

    def prompt(self, pipeline: str, context: PromptContext) -> str:
        """Render the prompt of a run: the pipeline's persona, then this run's circumstances."""
        if pipeline not in self._PIPELINES:
            raise NotFoundError(f"There is no prompt for the pipeline {pipeline!r}.")
        persona, template = self._PIPELINES[pipeline]
        return self._render(template, {"persona": self.persona(persona).text} | _values(context))

    def opening(self, context: OpeningContext) -> str:
        """Render the first message to a model: the memory as it is, and what happened."""
        return self._render("model/opening.md", _values(context))

    def preface(self, context: PrefaceContext) -> str:
        """Render the preface of the compiled block."""
        return self._render("model/preface.md", _values(context))

    def short_memory_policy(self, context: ShortMemoryContext, *, full: bool) -> str:
        """Render the rules by which agents keep short memory: all of them, or their essence."""
        name = "short-memory-policy" if full else "short-memory"
        return self._render(f"model/{name}.md", _values(context))

    def decision_rules(
        self, task: Literal["extract", "consolidate"], context: DecisionRulesContext
    ) -> str:
        """Render what a model is told before it extracts or consolidates project decisions."""
        return self._render(f"model/decisions-{task}.md", _values(context))

    def decision_message(self, context: EnvelopeContext) -> str:
        """Render one message of a person, out of which decisions are taken."""
        return self._render("model/decisions-message.md", _values(context))

    def decision_queue(self, context: QueueContext) -> str:
        """Render the decisions that are to be consolidated, and the files they go into."""
        return self._render("model/decisions-queue.md", _values(context))

    def diary_judge(self, context: DiaryJudgeContext) -> str:
        """Render the question whether a sentence is worth keeping."""
        return self._render("model/diary-judge.md", _values(context))

    def diary_rules(self, task: Literal["consolidate", "sleep"], context: DiaryRulesContext) -> str:
        """Render what a model is told before it writes in the diary, or puts it in order."""
        return self._render(f"model/diary-{task}.md", _values(context))

    def diary_window(self, context: DiaryWindowContext) -> str:
        """Render the last messages, out of which a diary entry is made."""
        return self._render("model/diary-window.md", _values(context))

    def diary_items(self, context: DiaryItemsContext) -> str:
        """Render the items of a diary that a night puts in order."""
        return self._render("model/diary-items.md", _values(context))

    def experience_rules(self, task: ExperienceTask, context: ExperienceRulesContext) -> str:
        """Render what a model is told before it names a scene, extracts or reconciles."""
        return self._render(f"model/experiences-{task}.md", _values(context))

    def segment(self, context: SegmentContext) -> str:
        """Render a segment, out of which experiences and a fact are taken."""
        return self._render("model/experiences-segment.md", _values(context))

    def drafts(self, context: DraftsContext) -> str:
        """Render drafts, and what the memory holds already."""
        return self._render("model/experiences-drafts.md", _values(context))

    def mcp_instructions(self, context: McpContext) -> str:
        """Render what an MCP client tells its model about the server."""
        return self._render("model/mcp-instructions.md", _values(context))

    def mcp_tools(self, context: McpContext) -> str:
        """Render what is said of each tool; `tool_words` takes it apart."""
        return self._render("model/mcp-tools.md", _values(context))

    def _render(self, template: str, values: Mapping[str, object]) -> str:
        try:
            return self._jinja.get_template(template).render(values)
        except jinja2.TemplateNotFound as error:
            raise NotFoundError(f"The template {template!r} is gone.", hint=_REINSTALL) from error


_REINSTALL = "Install Reflector again: its own files are incomplete."


def parse_persona(source: str) -> Persona:
    """Read a persona: YAML header with name and description, then `##` sections.

    Lines inside code fences are never headings. Raises `NotFoundError` without a header.
    """
    header = _HEADER.match(source)
    if header is None:
        raise NotFoundError("The persona has no header.", hint=_REINSTALL)
    about = yaml.safe_load(header.group(1))
    text = source[header.end() :].lstrip("\n")
    return Persona(about["name"], about["description"], MappingProxyType(_sections(text)), text)


def tool_words(text: str) -> dict[str, ToolWords]:
    """Take apart what is said of tools: a `##` heading each, a title, sentences, `- name: text`."""
    found: dict[str, ToolWords] = {}
    for name, section in _sections(text).items():
        title, _, rest = section.partition("\n\n")
        said, *listed = rest.split("\n- ")
        parameters = dict(each.strip().split(": ", 1) for each in listed)
        found[name] = ToolWords(title, said.strip(), MappingProxyType(parameters))
    return found


def quoted(text: str) -> str:
    """Write text as one JSON string, so that it stays on its line."""
    return json.dumps(text, ensure_ascii=False)


def shorten(text: str, limit: int) -> str:
    """Keep at most `limit` characters and say how many are left out."""
    if len(text) <= limit:
        return text
    return f"{text[:limit]}… [{len(text) - limit} characters left out]"


def enclosed(text: str) -> str:
    """Disarm what would open or close one of the elements that our templates own."""
    return _OWN_TAG.sub("&lt;", text)


def _sections(text: str) -> dict[str, str]:
    found: dict[str, list[str]] = {}
    lines: list[str] = []
    fenced = False
    for line in text.splitlines():
        fenced ^= _FENCE.match(line) is not None
        if line.startswith("## ") and not fenced:
            lines = found.setdefault(line[3:].strip(), [])
        else:
            lines.append(line)
    return {heading: "\n".join(body).strip() for heading, body in found.items()}


def _values(context: DataclassInstance) -> dict[str, object]:
    # Not `asdict`: it would turn the conversations inside into dictionaries as well.
    return {field.name: getattr(context, field.name) for field in fields(context)}


def _seed_path(template: str) -> str:
    # A real `.gitignore` among the templates would be obeyed by git in our own checkout.
    return re.sub(r"(^|/)dot-", r"\1.", template)


def _template_path(seed: str) -> str:
    return re.sub(r"(^|/)\.", r"\1dot-", seed)
