"""Which lines of a C++ kernel's loops come from which of torch's kernel objects, recorded while torch combines them."""

import threading
import weakref
from dataclasses import dataclass, field
from typing import Any, Final

from inspect_compile.codegen.kernels.statement_lines import Version
from inspect_compile.codegen.kernels.statement_places import Block, Body, Line, block
from inspect_compile.lowering.core.by_identity import ByIdentity
from inspect_compile.lowering.core.scopes import SCOPES, Scope
from inspect_compile.probe import Probes, argument
from inspect_compile.torch_compat import codegen as names

PROBE = "codegen.cpp_bodies"

VERSIONS: Final[ByIdentity[Version]] = ByIdentity()
"""torch's kernel object → what was written for it."""


@dataclass
class _Nest:
    """A loop nest that is being written; plain values."""

    begins: int
    """Number of entries in the buffer before it."""
    length: int = 0
    """Number of entries where a body continues."""
    spans: list[tuple[int, int, Version]] = field(default_factory=list)
    """The parts of the body that is being written."""
    bodies: list[Body] = field(default_factory=list)


class _Open(threading.local):
    nest: _Nest | None = None
    code: Any = None
    """The buffer, while a body is written into it."""


_OPEN = _Open()


def install(probes: Probes) -> None:
    """Hook the places where the C++ backend writes loops, and their bodies."""

    def begun(kernel: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        _OPEN.nest = _Nest(len(argument(args, kwargs, 1, "code")._lines))

    def written(state: Any, kernel: Any, args: tuple[Any, ...], kwargs: dict[str, Any], result: Any) -> None:
        nest, _OPEN.nest = _OPEN.nest, None
        scope = SCOPES.here()
        if nest is not None and scope is not None:
            entries = argument(args, kwargs, 1, "code")._lines[nest.begins :]
            found = block([_lines(entry) for entry in entries], nest.bodies)
            put(scope, PROBE, kernel.args, found)

    def broken(state: Any, kernel: Any, args: Any, kwargs: Any, error: BaseException) -> None:
        _OPEN.nest = _OPEN.code = None

    def body_begun(proxy: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> int | None:
        if _OPEN.nest is None:
            return None
        _OPEN.code = argument(args, kwargs, 0, "code")
        _OPEN.nest.spans = []
        return len(_OPEN.code._lines) - _OPEN.nest.begins

    def body_written(begins: int | None, proxy: Any, args: Any, kwargs: Any, result: Any) -> None:
        nest, code, _OPEN.code = _OPEN.nest, _OPEN.code, None
        if begins is not None and nest is not None:
            versions = tuple(found for kernel in proxy.kernels if (found := VERSIONS.get(kernel)) is not None)
            nest.bodies.append(Body(begins, len(code._lines) - nest.begins, versions, tuple(nest.spans)))

    def part_written(state: Any, kernel: Any, args: Any, kwargs: Any, result: Any) -> None:
        nest, version = _OPEN.nest, VERSIONS.get(kernel)
        if nest is not None and _OPEN.code is not None and version is not None:
            first = len(_OPEN.code._lines) - nest.begins  # the result is next put in there
            nest.spans.append((first, first + len(result._lines), version))

    probes.wrap(PROBE, names.CPP_LOOPS, before=begun, after=written, failed=broken)
    probes.wrap(PROBE, names.CPP_BODIES, before=body_begun, after=body_written)
    probes.wrap(PROBE, names.CPP_BODY, after=part_written)


def blocks_of(scope: Scope, arguments: Any) -> list[Block]:
    """The loop nests of the kernel with these arguments (torch's object), in the order in which they were written."""
    return taken(scope, PROBE, arguments)


def put(scope: Scope, probe: str, arguments: Any, value: Any) -> None:
    """Keep what a probe knows of a kernel that has no name yet, by its arguments (torch's object)."""
    scope.stash.setdefault(probe, []).append((weakref.ref(arguments), value))


def taken(scope: Scope, probe: str, arguments: Any) -> list[Any]:
    """What a probe has `put` for the kernel with these arguments, in order; it is not kept any longer."""
    waiting: list[tuple[weakref.ref[Any], Any]] = scope.stash.setdefault(probe, [])
    found = [value for owner, value in waiting if owner() is arguments]
    waiting[:] = [(owner, value) for owner, value in waiting if owner() is not arguments and owner() is not None]
    return found


def _lines(entry: Any) -> list[Line]:
    """The lines of a buffer entry: a text, a line that torch may drop, or a mark that writes nothing."""
    if type(entry) is str:
        return [Line(text.strip().replace(_COMMENT, "//")) for text in entry.split("\n")]
    text = getattr(entry, "line", None)
    return [Line(part.strip(), may_vanish=True) for part in text.split("\n")] if type(text) is str else []


_COMMENT: Final = "#pragma CMT"
"""torch turns these into comments in the end."""
