"""Every deliberate error: its code, its exit code, whether trying again can help."""

from __future__ import annotations

from typing import ClassVar


class ReflectorError(Exception):
    """Base of all deliberate errors.

    The message is a sentence with the thing in it, the hint says what to do next, the facts are
    for machines (they become keys of the JSON error object).
    """

    code: ClassVar[str] = "error"
    exit_code: ClassVar[int] = 1
    retryable: ClassVar[bool] = False
    advice: ClassVar[str] = ""
    """The next step where whoever raised the error knew none of its own."""

    def __init__(self, message: str, *, hint: str = "", **facts: object) -> None:
        """Keep the sentence, the next step and the facts apart."""
        super().__init__(message)
        self.message = message
        self.hint = hint or self.advice
        self.facts = facts
        if self.hint:  # whoever embeds us sees a traceback, and the next step stands below it
            self.add_note(self.hint)


class UsageError(ReflectorError):
    """The command's own words are wrong."""

    code = "usage"
    exit_code = 2


class SettingsError(ReflectorError):
    """A settings file or variable says something we do not understand."""

    code = "settings"
    exit_code = 3


class HomeError(ReflectorError):
    """The Reflector home, or an identity in it, cannot be used."""

    code = "home_unusable"
    exit_code = 3


class PausesError(HomeError):
    """The file that says when recording was paused cannot be read, so nothing may be recorded."""

    code = "pauses_unreadable"


class StateError(ReflectorError):
    """The state database is damaged, newer than this program, or cannot be written."""

    code = "state_unusable"
    exit_code = 3
    advice = "Memory itself is safe in git; `reflector doctor --fix` mends what can be mended."


class BusyError(ReflectorError):
    """Somebody else holds what we need; the same command works later."""

    code = "busy"
    exit_code = 4
    retryable = True


class DayLimitError(ReflectorError):
    """What a day may cost is used up; the same command works tomorrow, or with --over-budget."""

    code = "day_limit"
    exit_code = 4
    retryable = True


class PausedError(ReflectorError):
    """A person paused recording; the same command works after `reflector resume`."""

    code = "paused"
    exit_code = 4
    retryable = True


class ParentDirtyError(ReflectorError):
    """The memory repository is in the middle of something of a person's."""

    code = "parent_dirty"
    exit_code = 4
    retryable = True


class TranscriptError(ReflectorError):
    """A transcript cannot be read, or is in a form that we do not read."""

    code = "unreadable_transcript"


class UnknownFormatError(TranscriptError):
    """The file was read, but no adapter recognises it."""

    code = "unknown_format"


class DocumentError(ReflectorError):
    """A memory document cannot be parsed or may not be written."""

    code = "bad_document"
    advice = "Mend that and try again; nothing was changed."


class PathError(DocumentError):
    """A path would leave the memory, or is none."""

    code = "bad_path"


class GitError(ReflectorError):
    """A git operation failed; its own words are in `detail`."""

    code = "git_failed"
    retryable = True

    def __init__(self, message: str, *, hint: str = "", **facts: object) -> None:
        """Read the next step from git's own words when there is none."""
        super().__init__(message, hint=hint or _git_advice(str(facts.get("detail", ""))), **facts)

    @property
    def disk_full(self) -> bool:
        """Tell whether git found no room to write."""
        return _is_full(str(self.facts.get("detail", "")))


def machine_advice(detail: str) -> str:
    """Return the next step where the machine refused, in whosever words; "" if it did not."""
    if _is_full(detail):
        return "Free some space and run the same command again; nothing was lost."
    if "Permission denied" in detail:
        return "Check that what is named belongs to you, and that you can read and write it."
    if "Read-only file system" in detail:
        return "Make that file system writable, then run the same command again."
    return ""


def _git_advice(detail: str) -> str:
    if advice := machine_advice(detail):
        return advice
    if ".lock': File exists" in detail:
        return "If no git command is running in the memory, remove that file and try again."
    return "`git fsck --full` in the memory repository names what is damaged."


def _is_full(detail: str) -> bool:
    return "No space left on device" in detail or "Out of diskspace" in detail


class RefMovedError(GitError):
    """A compare-and-set found that the ref had moved."""

    code = "ref_moved"


class NotFoundError(ReflectorError):
    """A run, conversation, document or revision that is not there."""

    code = "not_found"


class InstallError(ReflectorError):
    """A file of a harness that we do not touch as it is; nothing was changed."""

    code = "install_refused"


class RunFailedError(ReflectorError):
    """A run ended without its work being kept."""

    code = "run_failed"
