"""The entry point of every hook and command: what must be quick needs no library at all.

Harnesses start this on every turn, so the hook path imports only modules that are built into the
interpreter, reads no settings and no database, and never fails: whatever happens, it exits with 0.
`bin/reflector` in the home runs this very file with `python -IS`; the installed command runs
`main`. A hook does three things: it appends one line to the spool, prints the cached block and the
notice where the event takes them (`hook_shown`), and starts the drainer when nobody is draining.
"""

# No `from __future__`: even that is a file to open and to run, on every turn of every agent.
import posix
import sys
import time

TYPE_CHECKING = False
if TYPE_CHECKING:
    from types import ModuleType

_LONGEST_LINE = 4096
_LONGEST_INPUT = 1 << 22
_LONGEST_TRANSCRIPT = 1 << 25
_SECONDS = 0.15
_SECONDS_INJECTING = 0.4
_BEGAN = time.monotonic()
_ALARMS_TO_PASS = (1,) * 6
_Given = dict[str, object]
_OBJECTS = 100_000
"""New objects between two searches for garbage: what a start makes stays, and each costs time."""
SHOWN = {
    "claude-code": ("SessionStart", "json"),
    "codex": ("SessionStart", "text"),  # an unknown key would void all of its JSON
    "gemini-cli": ("SessionStart", "json"),
    "opencode": ("session.created", "text"),
    "pi": ("session_start", "text"),
    "oh-my-pi": ("session_start", "text"),
}
"""The event of each harness whose output is shown to the model, and the form of that output."""
JSON_ALWAYS = ("gemini-cli",)
"""Harnesses that read JSON from stdout at every event, also where there is nothing to say."""
FORGETFUL = ("gemini-cli",)
"""Harnesses that go on with a session without what hooks had added to it."""


def main() -> int:
    """Run the command in `sys.argv` and return its exit code."""
    words = sys.argv[1:]
    if words[:1] == ["hook"] and len(words) == 3:
        code = hook(words[1], words[2])
        if sys.flags.no_site:  # taking the interpreter apart is a fifth of what a turn waits for
            posix._exit(code)  # noqa: SLF001 - as in `_limit`
        return code
    if words[:1] == ["hook"]:  # to some harnesses 2, a usage error, says "block": never that
        sys.stderr.write("usage: reflector hook HARNESS EVENT, as in the README: With your agent\n")
        return 0
    if sys.flags.no_site:  # started by the launcher: only a hook can do without our packages
        posix.execv(sys.executable, [sys.executable, "-I", "-m", "reflector", *words])
    if words in (["--version"], ["-V"]):
        from reflector import __version__  # noqa: PLC0415

        sys.stdout.write(f"reflector {__version__}\n")
        return 0
    import gc  # noqa: PLC0415

    gc.set_threshold(_OBJECTS)
    try:
        from reflector.surface.cli.main import main as command  # noqa: PLC0415 - argparse is not free
    except KeyboardInterrupt:  # nothing has begun yet that could say it better
        return 130
    return command(words)


def hook(harness: str, event: str) -> int:
    """Do a hook's three acts. Always returns 0: a hook never breaks its harness."""
    try:
        environ = posix.environ
        if harness in JSON_ALWAYS:
            _owed.append(b"{}\n")
        if not environ.get(b"REFLECTOR_CHILD"):  # else our own child: memory would feed on itself
            _limit(_SECONDS_INJECTING if _form(harness, event) else _SECONDS)
            home = environ.get(b"REFLECTOR_HOME") or environ.get(b"HOME", b"") + b"/.reflector"
            _acts(home, harness, event)
    except Exception:  # noqa: BLE001 - whatever it is, the agent's turn goes on
        return 0
    finally:
        _limit(0)  # an interpreter that is taken apart has no handler left, and would die
        _pay()
    return 0


_owed: list[bytes] = []
"""What the harness is still to be given, however this ends."""
_undrained: list[bytes] = []


def _pay() -> None:
    try:
        while _owed:
            posix.write(1, _owed.pop())
        while _undrained:
            _drain(_undrained.pop())
    except OSError:
        return  # the harness has gone


def _form(harness: str, event: str) -> str:
    """Return the form of what this event shows, "" if it shows nothing."""
    shown, form = SHOWN.get(harness, ("", ""))
    return form if event == shown else ""


def _limit(seconds: float) -> None:
    """End this process quietly when it takes too long; 0 calls that off."""
    import _signal  # type: ignore[import-not-found]  # noqa: PLC0415

    def end(_number: int, _frame: object) -> None:
        if _patience:
            _patience.pop()
            return
        _pay()
        posix._exit(0)  # noqa: SLF001 - the public door, os._exit, costs the import of os

    _signal.signal(_signal.SIGALRM, end)
    # Again and again: the first one may fall between the last look and a read that never ends.
    _signal.setitimer(_signal.ITIMER_REAL, seconds, seconds)


_patience: list[int] = []
"""The alarms that pass while the event is known and not written down: on a machine that is short of
time nearly all of it goes by before our turn comes, and what is not written down is lost."""


def _acts(home: bytes, harness: str, event: str) -> None:
    given = _stdin()
    _patience.extend(_ALARMS_TO_PASS)
    if given is _TOO_LARGE:  # nobody knows for whom it is: it is counted, and nothing is shown
        if _recorded(_gate(home), ""):
            _append(home, _line(harness, event, {"lost": "payload"}))
        return
    cwd = _text(given, "cwd")
    gate = _gate(home)
    if not _recorded(gate, cwd):
        return
    if not _form(harness, event):
        _spool(home, harness, event, given)
        _undrained.append(home)  # the drainer would take time from what a person waits for
        _patience.clear()
        _recall(home, gate, (harness, event, ""), given)
        return
    agent = home + b"/agents/" + _agent(gate, cwd).encode("utf-8", "surrogateescape")
    tells = _form(harness, event) == "json" and _text(given, "source") != "compact"
    told, notice = _sibling("hook_shown").notice(agent, _read) if tells else ("", "")
    try:
        _spool(home, harness, event, given, told)
    finally:
        _patience.clear()
        # On a full disk or in a home that may only be read, the memory is shown all the same.
        _recall(home, gate, (harness, event, ""), given)
        _inject(home, agent, (harness, event, notice), given)
    _drain(home)


def _stdin() -> _Given:
    """Read the payload with the C scanner that `json` is built on, without importing `json`."""
    import _json  # noqa: PLC0415

    class Context:
        strict = False
        object_hook = object_pairs_hook = None
        parse_float = float
        parse_int = int
        parse_constant = str
        memo: dict[str, str] = {}  # noqa: RUF012 - what the C scanner asks for

    parts: list[bytes] = []
    size = 0
    while size < _LONGEST_INPUT and (chunk := posix.read(0, 1 << 16)):
        parts.append(chunk)
        size += len(chunk)
    if size >= _LONGEST_INPUT:
        return _TOO_LARGE
    # The codec that takes a byte order mark away would be a file to import.
    text = b"".join(parts).decode("utf-8", "replace").removeprefix("\ufeff").lstrip()
    value, _end = _json.make_scanner(Context)(text, 0)  # type: ignore[arg-type]
    return value if isinstance(value, dict) else {}


_TOO_LARGE: _Given = {}


def _text(given: _Given, name: str) -> str:
    value = given.get(name)
    return value if isinstance(value, str) else ""


def _gate(home: bytes) -> list[tuple[str, str]]:
    """Return the lines of `hook.gate`, each a word and the rest. None of them: nothing is set."""
    raw = _read(home + b"/hook.gate")
    lines = raw.decode("utf-8", "replace").split("\n")
    return [(word, rest) for word, _, rest in (line.partition(" ") for line in lines) if rest]


def _recorded(gate: list[tuple[str, str]], cwd: str) -> bool:
    for word, rest in gate:
        if word == "paused" and (rest == "-" or float(rest) > time.time()):
            return False
        if word == "exclude" and _sibling("hook_seldom").matches(rest, cwd):
            return False
    return True


def _spool(home: bytes, harness: str, event: str, given: _Given, told: str = "") -> None:
    """Append one line that says what happened; if it is too long for that, one that says so."""
    fields = {"told": told} if told else {}
    for name in _SPOOLED:
        if value := _text(given, name):
            fields[name] = _sibling("hook_seldom").cleaned(value) if _odd(value) else value
    # A turn that ends while background work runs has not settled.
    if given.get("background_tasks"):
        fields["busy"] = "1"
    line = _line(harness, event, fields)
    if len(line) > _LONGEST_LINE:
        line = _line(harness, event, {"lost": "line"})
    _append(home, line)


_SPOOLED = (
    "session_id", "transcript_path", "agent_transcript_path", "opencode_path", "prompt_id", "cwd",
    "reason", "source",
)  # fmt: skip


def _line(harness: str, event: str, more: dict[str, str]) -> bytes:
    from _json import encode_basestring_ascii as quoted  # noqa: PLC0415

    fields = {"time": f"{time.time():.3f}", "harness": harness, "event": event, **more}
    body = ",".join(f"{quoted(name)}:{quoted(value)}" for name, value in fields.items())
    return f"{{{body}}}\n".encode("ascii")


def _append(home: bytes, line: bytes) -> None:
    """Append to today's file. One write on O_APPEND stays whole between processes."""
    folder = home + b"/spool"
    day = b"%s/%d-%02d-%02d.jsonl" % (folder, *time.gmtime()[:3])
    flags = posix.O_WRONLY | posix.O_APPEND | posix.O_CREAT | posix.O_CLOEXEC | posix.O_NOFOLLOW
    descriptor = posix.open(day, flags, 0o600)
    posix.write(descriptor, line)
    posix.close(descriptor)


def _odd(value: str) -> bool:
    """Tell whether a value names a secret, or has a piece unlike the words and ids of a path."""
    low = value.lower()
    # A folder may well be called `keys`; what announces a secret needs a sign or a blank as well.
    if any(sign in low for sign in _SIGNS) and any(word in low for word in _ANNOUNCED):
        return True
    if "a3-" in low:
        return True
    pieces = value.encode("utf-8", "replace").translate(_PIECES).split()
    return any(len(each) > 31 or (len(each) > 7 and _mixed(each)) for each in pieces)


def _mixed(piece: bytes) -> bool:
    plain = piece.isalpha() or piece.isdigit()
    return not plain and bool(piece.strip(b"0123456789abcdef"))


_SIGNS = ("=", ":", " ", "\t", ">")
_ANNOUNCED = ("token", "secret", "passw", "passp", "pwd", "key", "bearer", "authoriz", "://")
_PIECES = bytes(c if chr(c).isalnum() and c < 128 else 32 for c in range(256))


_Told = tuple[str, str, str]  # harness, event and notice


def _inject(home: bytes, agent: bytes, told: _Told, given: _Given) -> None:
    """Print the block, unless the session that goes on has it before its eyes already (F119)."""
    block = _block(home, agent, told, _text(given, "cwd"))
    goes_on = _text(given, "source") in ("resume", "fork", "")  # some do not say it
    if goes_on and told[0] not in FORGETFUL:
        path = _text(given, "transcript_path").replace("\0", "").encode("utf-8", "replace")
        raw = _read(path, _LONGEST_TRANSCRIPT)
        if raw and len(raw) < _LONGEST_TRANSCRIPT and _sibling("hook_seldom").seen(raw, block):
            block = b""  # in a longer one nobody knows what was compacted further on
    _owe(told, block)
    _pay()


def _recall(home: bytes, gate: list[tuple[str, str]], told: _Told, given: _Given) -> None:
    """Print what a prompt recalls, where that is switched on; the event is written down already."""
    if ("recall", "on") not in gate:
        return
    if not _form(*told[:2]):  # a turn that would wait longer, with what Python takes, goes on
        _limit(max(_SECONDS_INJECTING - 0.05 - (time.monotonic() - _BEGAN), 0.05))
    agent = home + b"/agents/" + _agent(gate, _text(given, "cwd")).encode("utf-8", "replace")
    form, text, keep = _sibling("hook_beside").recalled(home, agent, told, given, FORGETFUL)
    if text:
        _owe(told, text, form)
        _pay()
        keep()


def _owe(told: _Told, block: bytes, form: str = "") -> None:
    """Owe the harness a notice and a block in their form, in place of what it was owed before."""
    line = _sibling("hook_shown").formed(*told, block, form or _form(*told[:2]))
    _owed[:] = [line or (b"{}\n" if told[0] in JSON_ALWAYS else b"")]


def _block(home: bytes, agent: bytes, told: _Told, cwd: str) -> bytes:
    """Return the cached block if what it was made of still holds, else a fresh one.

    A fresh one that takes too long gives way to the cached one: see `_limit`.
    """
    shown = _sibling("hook_shown")
    if shown.facts(home) == b"-":  # nobody has a memory here: asking for one would make the home
        return b""
    known = cwd.startswith("/") and "\0" not in cwd
    place = cwd.encode("utf-8", "replace") if known else b""
    block: bytes
    stamps, block = shown.kept(agent, place, _read)
    if block and all(shown.holds(agent, stamp, _read) for stamp in stamps):
        return block
    if not block:  # the session begins in a new place: what holds everywhere is better than nothing
        stamps, block = shown.kept(agent, b"", _read)
    late = _sibling("hook_seldom").without_volatile(stamps, block)
    _owe(told, late)
    fresh: bytes = _sibling("hook_seldom").fresh(home, place)
    return fresh or late


def _agent(gate: list[tuple[str, str]], cwd: str) -> str:
    best, found = -1, ""
    for word, rest in gate:
        name, _, prefix = rest.partition(" ")
        if word == "default" and best < 0:
            found = name
        inside = cwd == prefix or cwd.startswith(prefix.rstrip("/") + "/")
        if word == "identity" and inside and len(prefix) > best:
            best, found = len(prefix), name
    return found


def _read(path: bytes, most: int = sys.maxsize) -> bytes:
    try:
        descriptor = posix.open(path, posix.O_RDONLY | posix.O_CLOEXEC | posix.O_NONBLOCK)
    except OSError:
        return b""
    parts: list[bytes] = []
    try:
        while most > 0 and (chunk := posix.read(descriptor, 1 << 16)):
            parts.append(chunk)
            most -= len(chunk)
    except OSError:  # a folder, a pipe: as if there were nothing
        parts.clear()
    posix.close(descriptor)
    return b"".join(parts)


def _sibling(name: str) -> "ModuleType":
    """Import a file that lies beside this one, under the package of this one if that has any.

    To the launcher it has none: where the package lies is another search through all folders.
    """
    if __package__:
        return __import__(f"{__package__}.{name}", fromlist=(name,))
    folder = __file__.rpartition("/")[0]
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return __import__(name)


def _drain(home: bytes) -> None:
    """Start the drainer in a session of its own unless somebody is draining; do not wait."""
    import fcntl  # noqa: PLC0415

    flags = posix.O_RDWR | posix.O_CREAT | posix.O_CLOEXEC
    lock = posix.open(home + b"/locks/ingest.lock", flags, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return
    posix.close(lock)
    nothing = [
        (posix.POSIX_SPAWN_OPEN, number, "/dev/null", posix.O_RDWR, 0) for number in (0, 1, 2)
    ]
    words: list[bytes | str] = [sys.executable, "-I", "-m", "reflector", "event", "--drain"]
    words += ["--home", home]
    posix.posix_spawn(sys.executable, words, posix.environ, file_actions=nothing, setsid=True)


if __name__ == "__main__":
    sys.exit(main())
