"""The exit statuses of the commands, as their help and docs/commands.md list them."""

from typing import Final

from inspect_compile.commands.program import BEFORE_START

INTERRUPTED: Final = 130
READER_GONE: Final = 141
"""Exit statuses, in a shell's convention, of a command that Ctrl-C ended or whose output nobody reads any more."""

_DONE: Final = "done"
_ERROR: Final = (2, "an error that its one line explains")
_ALWAYS: Final = ((INTERRUPTED, "Ctrl-C"), (READER_GONE, "nobody reads the output any more"))

_OWN: Final[dict[str, tuple[tuple[int, str], ...]]] = {
    "import": ((0, _DONE), (1, "with --recompile: a graph could not be compiled again"), _ERROR),
    "why": ((0, _DONE), (1, "with --try: still not fused"), _ERROR),
    "name": ((0, "each name is a kernel's"), (1, "one is not"), _ERROR),
    "diff": ((0, "both compiled the same"), (1, "something differs"), _ERROR),
    "upgrade": ((0, "both compiled the same"), (1, "something differs"), _ERROR),
    "check": ((0, "nothing differs that must not"), (1, "something does"), (2, "an error, also of the program")),
    "replay": ((0, "compiled"), (1, "a compile failed"), _ERROR),
    "bisect-fusions": ((0, "the fusion was found"), (1, "it was not, or is none"), _ERROR),
    "numerics": (
        (0, "all results of the checked calls were compared, and are right"),
        (1, "something is wrong; with --causes: nothing fixes it"),
        _ERROR,
        (3, "nothing wrong was found, and something was not compared"),
    ),
    "doctor": ((0, "programs can be recorded here"), (1, "they cannot"), _ERROR),
}
"""Command → its statuses, where they are not only 0 and 2."""


def of(command: str) -> tuple[tuple[str, str], ...]:
    """The statuses of a command, and what each means."""
    if command == "run":
        own: tuple[tuple[object, str], ...] = (
            ("the program's", "the program was started"),
            (BEFORE_START, "an error before that"),
        )
        return tuple((str(status), meaning) for status, meaning in own)
    found = (*_OWN.get(command, ((0, _DONE), _ERROR)), *_ALWAYS)
    return tuple((str(status), meaning) for status, meaning in found)


def text(command: str) -> str:
    """The part of its help."""
    rows = of(command)
    width = max(len(status) for status, _ in rows)
    return "\n".join(["exit status:", *(f"  {status:{width}}  {meaning}" for status, meaning in rows)])
