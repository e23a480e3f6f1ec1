"""What to do about a path that cannot be read as a dump, or become one."""

from typing import Final

from inspect_compile.errors import DumpError, DumpProblem

_MAKES: Final = "`inspect-compile run SCRIPT` makes one"
ADVICE: Final[dict[DumpProblem, str]] = {
    "none": _MAKES,
    "file": "",
    "unreadable": "`inspect-compile run SCRIPT` makes a new dump",
    "newer": "upgrade with `pip install -U inspect-compile`",
    "taken": "name a new directory, or look at this one: inspect-compile show {path}",
    "not empty": "name a new directory",
    "not writable": "name another directory for the dump (--dump DIR)",
}
_UNNAMED: Final = f"{_MAKES}, or name one: `inspect-compile show DUMP`"


def advised(error: DumpError) -> str:
    """`DIR: no such dump; `inspect-compile run SCRIPT` makes one`: what is there, and what to type next."""
    advice = ADVICE[error.problem].replace("{path}", error.path) if error.path else _UNNAMED
    return f"{error}; {advice}" if advice else str(error)
