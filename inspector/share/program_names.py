"""Collects from the facts of a dump what the program's authors have named, and wrote."""

import re
from typing import Any, Final

from inspect_compile.share.names import Names
from inspect_compile.share.vocabulary import is_common, is_common_part, is_short, key

_IDENTIFIER: Final = re.compile(r"\b[^\W\d]\w*")
_QUOTED: Final = re.compile(r"\"[^\"\n]{1,4000}\"|'[^'\n]{1,4000}'")
_RESUMED: Final = re.compile(r"(?:torch_dynamo_resume_in_)(\w+)_at_\d+")
_MADE: Final = re.compile(r"[Ll]_|__|model__\d")
"""How names begin that torch puts together from others."""
_HASH: Final = re.compile(
    r"(?=[a-z]{0,60}\d)(?:[0-9a-f]{8,100}|[a-z0-9]{30,100})|\w{0,100}?_[0-9a-f]{8}(?:_[0-9a-f]{4}){3}_[0-9a-f]{12}"
)
_DOTTED: Final = re.compile(r"(?<![\w.])[^\W\d]\w{0,100}(?:\.\w{1,100}){1,40}")
_LONGEST: Final = 1000
"""Maximum length in characters of an identifier."""

_LIBRARY: Final = re.compile(
    r"[/\\](?:site|dist)-packages[/\\]|[/\\]lib(?:64)?[/\\]python3(?:\.\d+)?t?[/\\]|^~env/|^<(?:frozen |eval_with_key)"
    r"|(?:^|[/\\])torch[/\\](?:_[a-z]|autograd|csrc|cuda|distributed|export|functional|fx|jit|nn|onnx|optim|utils)"
    r"|torchinductor_|^~cache/"
)
"""A file of a library, of Python, or of torch: of generated code, too."""
_DISTRIBUTION: Final = re.compile(r"[/\\](?:site|dist)-packages[/\\](\w{1,100})")

_OF_THE_PROGRAM: Final = frozenset(
    {"artifact", "call", "call_site", "collective", "cuda_graph", "first_call", "frame", "graph", "graph_break"}
    | {"guard", "imported", "recompile", "shape_guard", "side_effect", "skip", "symbol", "dynamo_node", "aot_metadata"}
    | {"graph_end", "hook", "pass", "tried_change", "tuned"}
)
"""Facts whose texts are the program's, or name what is. The others are of the compiler, and derived from these."""
_EVERYWHERE: Final = frozenset({"module", "module_type", "target", "original_aten", "operators", "error", "exception"})
"""Fields with names of the program in facts of the compiler, too."""
_MADE_BY_TORCH: Final = frozenset({"arguments", "inputs", "users", "origins", "name", "nodes", "received", "defined"})
"""Fields with names that torch puts together; texts in quotes are the program's."""
_OF_A_PLACE: Final = frozenset({"file", "function", "code"})
_PLAIN: Final = frozenset(
    {"fact", "stage", "kind", "op", "status", "what", "where", "defined", "limit", "dynamic", "dtype", "device"}
)
"""Fields with words of this tool."""


class ProgramNames:
    """Collects names; a name that a library has is the library's."""

    def __init__(self) -> None:
        self._own: set[str] = set()
        self._foreign: set[str] = set()
        self._files: set[str] = set()
        self._libraries: set[str] = {"torch"}
        self._dotted: set[str] = set()
        self._defined: set[tuple[str, str]] = set()

    def source(self, file: str, text: str) -> None:
        """A text of the program, or of a library if the file is one of its files."""
        if not is_of_library(file):
            self._own.update(_names(text))
            return
        self._foreign.update(_IDENTIFIER.findall(text))
        self._libraries.update(_DISTRIBUTION.findall(file))

    def row(self, value: Any) -> None:
        """A fact."""
        match value:
            case {"fact": "settings", "changed": list() as changed, "values": dict() as values}:
                for name in changed:
                    self._texts(values.get(name), is_own=True, key_="values")
            case dict():
                self._fields(value, is_own=value.get("fact") in _OF_THE_PROGRAM)
            case _:
                pass

    def run(self, run: dict[str, Any]) -> None:
        """The contents of run.json."""
        for name in ("argv", "cwd", "exception", "notes"):
            self._texts(run.get(name), is_own=True, key_=name)
        if argv := run.get("argv"):
            self._files.add(re.split(r"[/\\]", str(argv[0]))[-1])
        for value in (run.get("environment") or {}).values():
            self._texts(value, is_own=True, key_="environment")

    def folder(self, name: str) -> None:
        """The name of the dump."""
        self._own.update(_names(name))

    def names(self) -> Names:
        """All that were found."""
        foreign = {key(name) for name in self._foreign}
        for dotted in self._dotted:
            first, *rest = dotted.split(".")
            foreign.update(map(key, (first, *rest)) if first in self._libraries else ())
        own: set[str] = set()
        defined = {name for file, name in self._defined if file in self._files}
        for name in self._own | defined:
            parts = key(name)
            if is_short(parts) or is_common(parts) or parts in foreign:
                continue
            own.add(name.strip("_0123456789"))
            own.update(part for part in _parts(name) if not is_short((part,)) and (part,) not in foreign)
        return Names(own, self._files)

    def _fields(self, row: dict[str, Any], *, is_own: bool) -> None:
        file = row.get("file")
        if isinstance(file, str) and file:
            self.source(file, f"{row.get('function', '')} {row.get('code', '')}")
            if not is_of_library(file):
                self._files.add(re.split(r"[/\\]", file)[-1])
        defined = row.get("defined")
        if isinstance(defined, str) and "name" in row:  # without the directory: known when all files are
            self._defined.add((defined.rpartition(":")[0], str(row["name"])))
        for name, value in row.items():
            is_told = isinstance(value, str) and (name in _PLAIN or (bool(file) and name in _OF_A_PLACE))
            if not is_told:
                self._texts(value, is_own=is_own or name in _EVERYWHERE, key_=name)

    def _texts(self, value: Any, *, is_own: bool, key_: str) -> None:
        match value:
            case str() if is_own:
                self._text(value, is_made=key_ in _MADE_BY_TORCH)
            case dict() if "line" in value or "fact" in value:
                self._fields(value, is_own=is_own)
            case dict():
                for name, item in value.items():
                    if is_own:
                        self._text(name, is_made=False)
                    self._texts(item, is_own=is_own, key_=key_)
            case list() | tuple():
                for item in value:
                    self._texts(item, is_own=is_own, key_=key_)
            case _:
                pass

    def _text(self, text: str, *, is_made: bool) -> None:
        self._dotted.update(_DOTTED.findall(text))
        if not is_made:
            self._own.update(_names(text))
            return
        for quoted in _QUOTED.findall(text):
            self._own.update(_names(quoted))
        for identifier in _IDENTIFIER.findall(text):
            self._own.update(_parts(identifier))


def is_of_library(file: str) -> bool:
    """True for a file that the program's authors have not written."""
    return _LIBRARY.search(file) is not None


def _names(text: str) -> set[str]:
    found: set[str] = set()
    for identifier in set(_IDENTIFIER.findall(text)):
        if len(identifier) > _LONGEST or _HASH.fullmatch(identifier):
            continue
        resumed = _RESUMED.fullmatch(identifier)
        if resumed is not None:
            found |= _names(resumed[1])
        elif _MADE.match(identifier):
            found |= _parts(identifier)
        else:
            found.add(identifier)
    return found


def _parts(identifier: str) -> set[str]:
    """The parts of a name that torch put together which are no words of its own."""
    if _HASH.fullmatch(identifier):
        return set()
    return {part for part in key(identifier) if not part.isdecimal() and not is_common_part(part)}
