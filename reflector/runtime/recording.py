"""What a person said no to, read from the settings, the pauses and the folders themselves."""

from __future__ import annotations

import os
from pathlib import Path

from reflector.runtime import pauses
from reflector.runtime.consent import Consent, No, parents, pattern
from reflector.runtime.wiring import Context


def consent(context: Context) -> Consent:
    """Read what a person said no to. Raises PausesError when that cannot be told."""
    home = os.path.expanduser("~")  # noqa: PTH111 - Path raises where there is no home
    typed = [pattern(each, home) for each in context.settings.texts("journal.exclude")]
    return Consent(
        pauses=pauses.read(context.home),
        excluded=tuple(dict.fromkeys([*typed, *map(_without_links, typed)])),
        headless=context.settings.flag("journal.headless"),
    )


def _without_links(pattern: str) -> str:
    """Follow the links in the part of a pattern that has no wildcard: systems report real paths."""
    parts = pattern.split("/")
    wild = next((n for n, part in enumerate(parts) if set(part) & set("*?[")), len(parts))
    plain = "/".join(parts[:wild])
    return "/".join([os.path.realpath(plain), *parts[wild:]]) if plain else pattern


def folder_no(consent: Consent, folder: str, home: Path) -> No | None:
    """Tell why nothing that is said in this folder is recorded, None if it is."""
    plain = folder.replace("\0", "").encode("utf-8", "replace").decode()  # a foreign text
    spelled = [os.path.normpath(plain), os.path.realpath(plain)]
    if any(Path(each).is_relative_to(home) for each in spelled):
        # A session of Reflector's own children: reflecting on it would feed on itself.
        return No.OWN
    if consent.leaves_out([folder, *spelled]):
        return No.EXCLUDED
    marks = (f"{above}/.reflector/off" for each in spelled for above in parents(each))
    return No.OFF if any(map(os.path.lexists, marks)) else None
