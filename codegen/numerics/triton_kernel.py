"""A loaded Triton kernel that can be run with the values of its statements written out."""

import functools
import linecache
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import SimpleNamespace
from typing import Any, Final, NamedTuple

import torch

from inspect_compile.codegen.kernels.kernels import bare_source
from inspect_compile.codegen.numerics.loops import Short
from inspect_compile.codegen.numerics.operations import Body, Lines
from inspect_compile.codegen.numerics.probed_kernel import Missing, Values, WithPoints
from inspect_compile.codegen.numerics.probed_source import Point
from inspect_compile.codegen.numerics.probed_triton import HELPERS, ROW, ProbedTriton, masked_by, probed_triton

_MOST: Final = 1 << 27
"""Maximum number of bytes that are written out."""


class TritonKernel(WithPoints):
    """A Triton kernel."""

    row_variable = ROW

    def __init__(
        self, source: ProbedTriton, function: Callable[..., None], bodies: Lines, blocks: Mapping[str, int]
    ) -> None:
        """`blocks`: sizes of blocks and the number of warps, as torch launches it."""
        super().__init__(source.points, bodies)
        self._source = source
        self._function = function
        self._blocks = blocks

    def body(self, line: int) -> Body | None:
        """The body that the line belongs to, one for each part of a combo kernel; None if that is not known."""
        part = self._parts.get(line)
        return None if part is None or len(self._all) != len(self._source.parts) else self._all[part]

    @functools.cached_property
    def _parts(self) -> dict[int, int]:
        """Line of a point → the part of the kernel that it is in, from 0."""
        return {point.line: point.nest - 1 for point in self.points}

    def masked_by(self, point: Point) -> tuple[str, ...]:
        """See `WithPoints`."""
        return masked_by(point.text)

    def has_lane(self, body: Body | None, lane: int) -> bool:
        """True: what lies outside of a row is not written out."""
        return True

    def stores(self, buffer: str) -> list[int]:
        """Positions of the points where something is stored that the buffer is to hold."""
        due = {store.variable for body in self._all for store in body.stores if store.buffer == buffer}
        return [at for at in self.stored if self.points[at].name in due]

    def has_place(self, buffer: str, position: int, sizes: Mapping[str, int]) -> bool:
        """False: it is not looked at which elements the axes get to."""
        return False

    def missing(self, buffer: str, position: int) -> Missing | None:
        """Why the element of the buffer is never stored; None if that is not known."""
        seen = [self.points[at].line for at in self.stores(buffer)]
        due = [line for body in self._all for store, line in body.lines.items() if store.buffer == buffer]
        lines = seen or due
        return Missing(lines[0]) if lines else None

    def too_short(self, buffers: Iterable[str]) -> Short | None:
        """None: its loops are not looked at."""
        return None

    def run(self, arguments: tuple[Any, ...], names: Sequence[str], address: int, turn: float = 0.0) -> Values:
        """Run the kernel with these arguments of the launch, of which it changes none. `address` is that of the element
        of the buffer, by the first of its `names`. `turn` is not used: each has all lanes.
        """
        given = dict(zip(self._source.parameters, arguments, strict=False))
        lengths = [self._size("r0_numel", given, part) for part in self._source.parts]
        rows = max(lengths) if self._source.reduces else 1
        nothing = Values(0, 0, None, {})
        if rows * len(self.points) * 8 > _MOST:
            return nothing
        for at in self.stores(names[0]) or self.stored:
            tensor = given[self._source.pointers[at]]
            element = (address - tensor.data_ptr()) // tensor.element_size()
            place = torch.zeros(4, dtype=torch.int64, device=tensor.device)
            values = torch.full((len(self.points), rows), torch.nan, dtype=torch.float64, device=tensor.device)
            self._launch(given, values, place, (-1, -1), at, element)
            times, x, y, row = place.tolist()
            if times:
                self._launch(given, values, place, (x, y), -1, element)
                loops = {"xindex": float(x), "yindex": float(y)}
                in_rows = self._source.in_rows
                ends = [lengths[point.nest - 1] if at in in_rows else 1 for at, point in enumerate(self.points)]
                lanes = {at: lane[:end] for at, (lane, end) in enumerate(zip(values.tolist(), ends, strict=True))}
                return Values(times, row, self.points[at], lanes, loops)
        return nothing

    def _launch(
        self,
        given: Mapping[str, Any],
        values: torch.Tensor,
        place: torch.Tensor,
        at: tuple[int, int],
        store: int,
        element: int,
    ) -> None:
        blocks = {name: self._blocks[name] for name in self._source.constants}

        def programs(axis: str, part: Mapping[str, int]) -> int:
            return -(-self._size(f"{axis}numel", given, part) // {**part, **blocks}.get(f"{axis.upper()}BLOCK", 1))

        parts = self._source.parts
        rows = programs("y", parts[0]) if "yindex" in self._source.axes else 1
        # Parts that take turns have as many programs each as the largest; those that are too many store nothing.
        grid = len(parts) * max(programs("x", part) for part in parts), rows, 1
        self._function[grid](  # type: ignore[index]
            **given,
            ic_values=values,
            ic_place=place,
            ic_rows=values.shape[1],
            ic_store=store,
            ic_element=element,
            ic_x=at[0],
            ic_y=at[1],
            **blocks,
            num_warps=self._blocks["num_warps"],
        )

    def _size(self, name: str, given: Mapping[str, Any], part: Mapping[str, int]) -> int:
        return int(given.get(name, part.get(name, 1)))


def triton_source(function: Any) -> tuple[str, Mapping[str, str]] | None:
    """The source of the kernel that torch loaded as `function`, and Triton's type of each parameter (`*bf16`); None if
    it is no Triton kernel.
    """
    source = _source(function)
    return None if source is None else (source, dict(getattr(function, "triton_meta", {}).get("signature", {})))


def _source(function: Any) -> str | None:
    source = getattr(getattr(function, "fn", None), "src", None)
    return source if type(source) is str else None


def triton_kernel(function: Any, bodies: Lines, generated: str) -> TritonKernel | str | None:
    """The kernel that torch loaded as `function`, or why its statements' values cannot be had; None if it is no Triton
    kernel. `generated` is the source of its graph.

    Raises what Triton raises.
    """
    source = _source(function)
    if source is None:
        return None
    if not bodies:
        return "it is not known which operation each of its statements was generated for"
    source = source[re.search(r"^def ", source, re.MULTILINE).start() :]  # type: ignore[union-attr]
    found = probed_triton(source)
    around = _around(generated, found.name) if found is not None else None
    if found is None or around is None:
        return "its source is in a form that cannot be read"
    found.points = [point._replace(line=point.line + around.lines) for point in found.points]
    launchers = getattr(function, "launchers", None)
    config = getattr(launchers[0], "config", None) if launchers else None
    blocks = dict(getattr(config, "kwargs", {})) | {"num_warps": getattr(config, "num_warps", 4)}
    if any(name not in blocks for name in found.constants):
        return "its block sizes are not known"
    return TritonKernel(found, _loaded(found, around.beginning), bodies, blocks)


class _Around(NamedTuple):
    """What the generated code of a graph has around a Triton kernel."""

    beginning: str
    """Imports, and the functions that the kernel calls."""
    lines: int
    """Lines of the kernel's source before its `def`."""


def _around(generated: str, name: str) -> _Around | None:
    """None if the kernel is not there."""
    begins = generated.find(f"async_compile.triton('{name}', '''")
    defined = generated.find(f"\ndef {name}(", begins)
    if min(begins, defined) < 0:
        return None
    before = bare_source(generated[begins : defined + 1] + "'''").splitlines()
    ends = next((at for at, line in enumerate(before) if line.startswith("@triton_heuristics")), 0)
    return _Around("\n".join(line for line in before[:ends] if not line.startswith("triton_helpers.")), len(before))


def _loaded(found: ProbedTriton, beginning: str) -> Callable[..., None]:
    """Triton reads a function's source by its file's name: one that only Python's `linecache` has."""
    text = f"{beginning}\n{HELPERS}\n\n@triton.jit\n{found.text}"
    path = f"<statements of {found.name} {id(found):x}>"
    linecache.cache[path] = len(text), None, text.splitlines(keepends=True), path
    module = SimpleNamespace(__name__="inspect_compile_statements")
    exec(compile(text, path, "exec"), vars(module))
    function: Callable[..., None] = vars(module)[found.name]
    return function
