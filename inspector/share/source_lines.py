"""Takes the lines of the user's program out of texts: which file and line stays, what is written there goes."""

import re
from typing import Any, Final

_NODE: Final = re.compile(r"(#\s*File: [^\n]*?), code: [^\n]*")
"""How FX prints where a node comes from."""
_GUARD: Final = re.compile(r"(?<=[ \t])# [^\n]*?(?= # \S[^\n]*?:\d+ in )")
"""How Dynamo prints what a guard comes from: the line, then its place."""
_FRAME: Final = re.compile(r"""([ \t>#|+]*)File "[^"\n]*", line \d+""")
"""How Python prints a frame of a traceback; the line stands below it, further in."""


class SourceLines:
    """Takes them out, and counts."""

    def __init__(self) -> None:
        self.count = 0
        self._indent: int | None = None

    def json(self, value: Any) -> Any:
        """A JSON value: the code of each location in it, and the lines in each of its texts."""
        match value:
            case str():
                return self.text(value)
            case {"file": _, "line": _, "code": str() as code} if code:
                self.count += 1
                return {**value, "code": ""}
            case dict():
                return {key: self.json(item) for key, item in value.items()}
            case list():
                return [self.json(item) for item in value]
            case _:
                return value

    def text(self, text: str) -> str:
        """A text of its own. The lines of tracebacks go whole."""
        if "#" not in text and 'File "' not in text:
            return text
        self._indent = None
        kept = [found for line in text.split("\n") if (found := self.line(line)) or not line]
        self._indent = None
        return "\n".join(kept)

    def line(self, line: str) -> str:
        """The next line of a file: empty where it was a line of a traceback, so that lines keep their numbers."""
        frame = _FRAME.match(line)
        if frame is not None:
            self._indent = len(frame[1])
            return line
        if self._indent is not None:
            bare = line.lstrip(" \t>#|+")
            if bare.strip() and len(line) - len(bare) > self._indent:
                self.count += 1
                return ""
            self._indent = None
        if "#" in line:
            for pattern, kept in ((_NODE, r"\1"), (_GUARD, "")):
                line, times = pattern.subn(kept, line)
                self.count += times
        return line
