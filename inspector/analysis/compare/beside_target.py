"""What one compile on a GPU and another one with `--target` for it can be told to differ in, and what they cannot.

A program for a target runs on the CPU, with Python functions in the place of some of torch's, and Inductor compiles in
another process. What follows from that alone is taken out of both sides; what was compiled stays as it is.
"""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Final

from inspect_compile.analysis.compare.content import Content, FrameContent, GraphContent, Lines

_DEVICE: Final = re.compile(r"^device (?:target |cuda \(.*, )(\w+)\)?$")
"""`device target sm_90`, `device cuda (NVIDIA H200, sm_90)`."""
_PROPERTIES: Final = re.compile(r"DeviceProperties\([^()]*\)")
_TOLD_OF_TARGETS: Final = "target-"
_PADDED: Final = "padded-matmul "
_CLOSURE: Final = "CLOSURE_MATCH "
_OF_TORCH: Final = re.compile(r"\.__class__\.\w+$|^G\['(?:__import_)?torch\w*'\](?:\.\w+)+$")
"""A method of a tensor, or a function of a module of torch's."""
_SHAPES: Final = "SHAPE_ENV "
_AND: Final = " and "


def comparable(a: Content, b: Content) -> tuple[Content, Content]:
    """Both without what differs between a GPU and a target for it, whatever is compiled; as they are if none or each
    is for a target.

    That is: how the device is named and its other properties; what torch's caches answer, which a target does not ask;
    remarks about the target, and how long a matmul took with padding; guards on what stands in the place of functions
    of torch's; and conditions on sizes that Inductor adds to the guards while it compiles, as for 32-bit indices, which
    reach the program only on the GPU.
    """
    if bool(a.target) == bool(b.target):
        return a, b
    # By the compile: a frame that has another id on the other side keeps all of its guards.
    guards = {row.compile_id: row.guards for row in (a if a.target else b).frames}
    return _without(a, guards, is_real=not a.target), _without(b, guards, is_real=not b.target)


def comparable_kernels(contents: Sequence[Content]) -> list[Content]:
    """All with the other properties of the device left out of the sources of kernels; as they are if none or each is
    for a target.
    """
    if len({bool(one.target) for one in contents}) == 1:
        return list(contents)
    return [replace(one, graphs=_without_properties(one)) for one in contents]


def _without_properties(content: Content) -> tuple[GraphContent, ...]:
    return tuple(
        replace(graph, kernels=tuple(_PROPERTIES.sub("DeviceProperties()", source) for source in graph.kernels))
        for graph in content.graphs
    )


def _without(content: Content, of_target: dict[str, Lines], *, is_real: bool) -> Content:
    frames = tuple(_frame(row, of_target.get(row.compile_id, ()), is_real) for row in content.frames)
    return replace(
        content,
        frames=frames,
        graphs=_without_properties(content),
        settings=tuple(_DEVICE.sub(r"device \1", line) for line in content.settings),
    )


def _frame(row: FrameContent, of_target: Lines, is_real: bool) -> FrameContent:
    stand_ins = {_source(line) for line in of_target if line.startswith(_CLOSURE) and _OF_TORCH.search(_source(line))}
    guards = [line for line in row.guards if _looked_at(line) not in stand_ins]
    if is_real:
        known = {term for line in of_target if line.startswith(_SHAPES) for term in _source(line).split(_AND)}
        guards = [_known_terms(line, known) if line.startswith(_SHAPES) else line for line in guards]
    return replace(row, guards=tuple(guards), caches=(), remarks=tuple(_remarks(row.remarks)))


def _remarks(lines: Lines) -> Iterable[str]:
    for line in lines:
        if not line.startswith(_TOLD_OF_TARGETS):
            yield line.partition(":")[0] if line.startswith(_PADDED) else line


def _source(line: str) -> str:
    """Of a guard without a condition: what it looks at."""
    return line.partition(" ")[2]


def _looked_at(line: str) -> str:
    """The same of any guard; for one on a cell of a closure, the function that has it."""
    return _source(line).partition(" ___check")[0].partition(".__closure__")[0]


def _known_terms(line: str, known: set[str]) -> str:
    return _SHAPES + _AND.join(term for term in _source(line).split(_AND) if term in known)
