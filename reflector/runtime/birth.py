"""An identity's memory is born: repository, seed documents, root commit, state database."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from reflector.core.errors import HomeError
from reflector.pipelines.contexts import SeedContext
from reflector.runtime import launcher
from reflector.runtime.wiring import Context
from reflector.runtime.words import open_words
from reflector.store.disk import make_folder, on_disk
from reflector.store.locks import held
from reflector.vcs import porcelain
from reflector.vcs.porcelain import Porcelain, git_version
from reflector.vcs.port import MAIN
from reflector.vcs.reads import Reads
from reflector.vcs.scrub import Scrubbed

_MESSAGE = """feat(reflection): plant the seed documents

Updates:
- the memory begins with its seed documents

Generated-By: agent memory
"""


@dataclass(frozen=True, slots=True)
class Born:
    """The memory of an identity. `created` is False when it was there already."""

    repository: Path
    head: str
    created: bool


def init(context: Context) -> Born:
    """Make the memory of this identity, or find it in order. Never overwrites anything."""
    scrubbed = Scrubbed(context.environ)
    git_version(scrubbed)
    context.home.create()
    launcher.write(context.home)
    make_folder(context.agent.path)
    context.agent.create()
    lock = context.agent.lock("memory")
    with (
        held(lock, context.ambient.clock, "writing this memory"),
        on_disk(context.agent.path),
    ):
        return _init(context, scrubbed)


def _init(context: Context, scrubbed: Scrubbed) -> Born:
    repo = context.agent.repo
    unfinished = repo.with_name("repo.new")
    if repo.exists():
        head = _head(repo)
        with context.state():
            return Born(repo, head, created=False)
    # Built beside and renamed, so that a crash never leaves half a memory under the real name.
    _remove(unfinished)
    _plant(context, scrubbed, unfinished)
    unfinished.rename(repo)
    with context.state():
        return Born(repo, _head(repo), created=True)


def _plant(context: Context, scrubbed: Scrubbed, folder: Path) -> None:
    porcelain.init(scrubbed, folder)
    words = open_words()
    today = context.ambient.clock.now().astimezone().date().isoformat()
    seeds = words.seeds()
    for name in seeds:
        place = folder / name
        place.parent.mkdir(parents=True, exist_ok=True)
        text = words.seed(name, SeedContext(context.agent.identity, today))
        place.write_text(text, "utf-8", newline="\n")
    git = Porcelain(scrubbed, folder)
    git.commit_paths(_MESSAGE, seeds, context.ambient.clock.now())


def _head(repo: Path) -> str:
    if not (repo / ".git").is_dir() or repo.is_symlink():
        raise HomeError(
            f"{repo} exists but is no git repository.",
            hint="Move it away; `reflector init` will not touch it.",
            path=str(repo),
        )
    with Reads(repo) as reads:
        head = reads.resolve(MAIN)
    if head is None:
        raise HomeError(
            f"The repository {repo} has no commit on main that can be read.",
            hint="If it was a memory, `git fsck --full` there names what is damaged. If not, move "
            "it away and run `reflector init` again; nothing was changed.",
            path=str(repo),
        )
    return head


def _remove(folder: Path) -> None:
    import shutil  # noqa: PLC0415 - only after a crash in the middle of init

    if folder.exists():
        shutil.rmtree(folder)
