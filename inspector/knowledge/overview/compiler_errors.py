"""What a C++ compiler said of generated code, without its command line and its warnings."""

import re
from typing import Final, NamedTuple

_COMMAND: Final = "Command:\n"
_OUTPUT: Final = "Output:\n"
"""Between the two stands the command line, of thousands of characters. Source: `CppCompileError` of torch 2.11-2.15."""
_ERROR: Final = re.compile(r"^(?P<file>[^\s:][^\n:]*):(?P<line>\d{1,9}):(?:\d+:)? (?:fatal )?error: (?P<message>.*)$")
_QUOTED: Final = re.compile(r"^\s*\d* \|\s?(?P<code>.*)$")
_MOST_ERRORS: Final = 3
_LAST_LINES: Final = 8
"""Of an output without such an error, as of a linker."""
_MOST: Final = 2000


class CompilerError(NamedTuple):
    """One error, and the line of generated code that it is about."""

    file: str
    line: int
    message: str
    code: str = ""


def brief(text: str) -> str:
    """The text of an exception; of a compiler's only its errors, each followed by the line that it quotes."""
    before, _, rest = text.partition(_COMMAND)
    _, found, output = rest.partition(_OUTPUT)
    if not found:
        return text[:_MOST]
    lines = output.splitlines()
    kept: list[str] = []
    messages: set[str] = set()  # the vectorized loop and the rest of it have the same errors
    for index, line in enumerate(lines):
        error = _ERROR.match(line)
        if error is not None and error["message"] not in messages and len(messages) < _MOST_ERRORS:
            messages.add(error["message"])
            quoted = lines[index + 1] if index + 1 < len(lines) and _QUOTED.match(lines[index + 1]) else ""
            kept += [line, quoted]
    said = kept or [line for line in lines if "warning" not in line][-_LAST_LINES:]
    return "\n".join((before.rstrip(), *(line for line in said if line)))[:_MOST]


def errors_in(text: str) -> list[CompilerError]:
    """The errors in a text that `brief` made."""
    found, lines = [], text.splitlines()
    for index, line in enumerate(lines):
        if (said := _ERROR.match(line)) is not None:
            quoted = _QUOTED.match(lines[index + 1]) if index + 1 < len(lines) else None
            code = "" if quoted is None else quoted["code"].strip()
            found.append(CompilerError(said["file"], int(said["line"]), said["message"].strip(), code))
    return found
