"""Resolves a kernel name that some tool printed to a kernel of the dump and its source."""

import hashlib
import posixpath
import re
from collections.abc import Callable, Iterable, Sequence
from functools import cached_property
from pathlib import Path
from typing import Final

import msgspec
from msgspec.structs import replace

from inspect_compile.analysis.lookup import kernel_symbols
from inspect_compile.analysis.lookup.answer import Answer, Found, Unknown, unknown
from inspect_compile.analysis.lookup.named_kernel import NamedKernel, Resolved, TellsApart
from inspect_compile.analysis.runtime.launch_plan import ON_GPU, function_of, host_name
from inspect_compile.dump import Dump, paths
from inspect_compile.dump.files import file_inside
from inspect_compile.facts import Binary, Kernel, Node
from inspect_compile.graph import CompiledGraph, Id, file_name, grouped, outermost, shared_fields
from inspect_compile.graph.kernels.binaries import compiled_as
from inspect_compile.graph.kernels.launches import USER_TRITON, Launch
from inspect_compile.knowledge.kernels.library_kernels import can_launch, library_of, operator_of

_NEAR: Final = 5
"""Maximum number of lines that are named if one is not that of a kernel."""
_SHORTEST: Final = 4
"""Minimum length of a name's prefix, or of a hash."""

_LARGEST: Final = 16 << 20
"""Maximum size of a compiled stage, in bytes."""

_HANDLE = re.compile(r"(?P<kernel>.+):(?P<number>\d{1,18})")
_LINE = re.compile(r"(?:(?P<folder>.*)/)?output_code\.(?:py|cpp):(?P<line>\d{1,18})(?::(?s:.*))?")
_FILE = re.compile(r"(?:.*/)?(?P<stem>[a-z0-9]{4,}?)(?:\.(?:py|so|cubin|hsaco|ptx|cpp|json|ttir|ttgir|llir))?")
_CUT = re.compile(r"…|\.\.\.")
_HEX = re.compile(r"[0-9a-f]{6,64}")


class _Known(msgspec.Struct, frozen=True):
    """One kernel, with all its calls."""

    kernel: Kernel
    calls: tuple[Launch, ...]
    function: str
    host: str


class Names:
    """The kernel names of a dump."""

    def __init__(self, dump: Dump, graphs: Sequence[str | None] = (None,)) -> None:
        """`graphs` are those to look into; None is for all."""
        self._dump = dump
        self._graphs = [found.graph for found in dump.outermost() if None in graphs or found.graph in graphs]

    @cached_property
    def _known(self) -> list[_Known]:
        found = (launch for graph in self._graphs for launch in CompiledGraph(self._dump, graph).launches)
        by_name = grouped(found, lambda launch: Id(launch.graph, launch.kernel.name))
        return [
            _Known(calls[0].kernel, tuple(calls), function_of(self._dump, calls[0].kernel), host_name(calls[0].kernel))
            for calls in by_name.values()
        ]

    @cached_property
    def _nodes(self) -> dict[Id, Node]:
        return {key: node for graph in self._graphs for key, node in CompiledGraph(self._dump, graph).node_of.items()}

    def find(self, asked: str) -> Answer[Resolved]:
        """What `asked` means, by the first reading that finds anything."""
        text = asked.strip()
        for reading in _READINGS:
            found = reading(self, text)
            if found is not None:
                return found if isinstance(found, Unknown) else Found((found,))
        names = (name for known in self._known for name in (known.kernel.name, known.function) if name)
        return unknown(self._dump, text, "kernel", names)

    def _resolved(
        self,
        asked: str,
        how: str,
        found: Iterable[_Known],
        *,
        confidence: str = "",
        remarks: tuple[str, ...] = (),
        told_by: TellsApart = "",
    ) -> Resolved | None:
        rows = list(found)
        if not rows:
            return None
        sure = confidence or ("certain" if len(rows) == 1 else "ambiguous")
        return Resolved(asked, how, [self._row(asked, how, sure, known) for known in rows], remarks, told_by)

    def _row(self, asked: str, how: str, confidence: str, known: _Known) -> NamedKernel:
        kernel = known.kernel
        nodes = tuple(dict.fromkeys(node for call in known.calls for node in call.nodes))
        rows = [row for name in nodes if (row := self._nodes.get(Id(kernel.graph, name))) is not None]
        return NamedKernel(
            asked=asked,
            confidence=confidence,
            how=how,
            **shared_fields(kernel, NamedKernel, "launches", "nodes", "lines"),
            kernel=kernel.name,
            launches=tuple(call.line for call in known.calls if call.line is not None),
            nodes=nodes,
            modules=tuple(dict.fromkeys(row.module for row in rows if row.module)),
            lines=tuple({(at.file, at.line): at for row in rows if (at := row.where) is not None}.values()),
        )

    def by_name(self, text: str) -> Resolved | None:
        """Read as a name in the dump, or on the CPU side of a profile."""
        found = [known for known in self._known if text == known.kernel.name]
        if found:
            return self._resolved(text, "a kernel's name", found)
        found = [
            known
            for known in self._known
            if not known.function and text in (known.host, operator_of(known.kernel.name))
        ]
        return self._resolved(text, "an operator", found)

    def by_function(self, text: str) -> Resolved | None:
        """Read as a Triton function: one name for many kernels if names are not unique."""
        found = [known for known in self._known if known.function and known.function == text]
        return self._resolved(text, "the name of a Triton function", found, told_by=_tells_apart(found))

    def by_handle(self, text: str) -> Resolved | None:
        """Read as `kernel:handle`, torch's provenance name of a call: the calls of a graph are counted from 1."""
        parts = _HANDLE.fullmatch(text)
        if parts is None:
            return None
        rows = []
        for graph in self._graphs:
            for number, launch in enumerate(CompiledGraph(self._dump, graph).launches, 1):
                if number == int(parts["number"]) and launch.kernel.name == parts["kernel"]:
                    known = next(known for known in self._known if launch in known.calls)
                    rows.append(replace(known, calls=(launch,)))
        return self._resolved(text, f"call {parts['number']} of its graph", rows)

    def by_line(self, text: str) -> Resolved | Unknown | None:
        """Read as `output_code.py:31`."""
        parts = _LINE.fullmatch(text)
        if parts is None:
            return None
        folder = posixpath.basename(parts["folder"] or "")
        number = int(parts["line"])
        graphs = [
            graph for graph in self._graphs if posixpath.basename(paths.graph_folder(graph)) == folder
        ] or self._graphs
        found = self._at(text, {graph: {number} for graph in graphs}, f"line {number} of output_code.py")
        near = self._lines_near(graphs, number)
        return found or Unknown(text, "line of output_code.py", self._dump.root, near=near)

    def by_text(self, text: str) -> Resolved | None:
        """Read as the text of a line of output_code.py."""
        at: dict[str, set[int]] = {}
        for graph in self._graphs:
            code = self._dump.text(graph, f"{paths.OUTPUT_CODE}.py") or ""
            lines = {number for number, line in enumerate(code.splitlines(), 1) if line.strip() == text}
            if lines:
                at[graph] = lines
        return self._at(text, at, "a line of output_code.py") if at and (" " in text or "(" in text) else None

    def _at(self, asked: str, lines: dict[str, set[int]], how: str) -> Resolved | None:
        rows = []
        for known in self._known:
            wanted = lines.get(outermost(known.kernel.graph), set())
            calls = tuple(call for call in known.calls if call.line in wanted)
            first, last = known.kernel.defined_at, known.kernel.defined_to
            is_defined = first is not None and any(first <= line <= (last or first) for line in wanted)
            if calls or is_defined:
                rows.append(replace(known, calls=calls or known.calls))
        return self._resolved(asked, how, rows)

    def _lines_near(self, graphs: list[str], number: int) -> tuple[str, ...]:
        there = [(call.line, call) for known in self._known for call in known.calls if call.line is not None]
        there = [(line, call) for line, call in there if outermost(call.graph) in graphs]
        nearest = sorted(there, key=lambda pair: abs(pair[0] - number))[:_NEAR]
        nearest.sort(key=lambda pair: pair[0])
        return tuple(f"output_code.py:{line} calls {call.kernel.name}" for line, call in nearest)

    def by_hash(self, text: str) -> Resolved | None:
        """Read as the name of a source file in torch's cache, or the checksum of a binary in the dump."""
        parts = _FILE.fullmatch(text)
        if parts is not None and len(parts["stem"]) >= 2 * _SHORTEST:
            stem = parts["stem"]
            found = [known for known in self._known if file_name(known.kernel.path).startswith(stem)]
            if found:
                return self._resolved(text, "the file that torch keeps its source in", found)
        return (
            self._resolved(text, "the SHA-256 of a file of it", self._with_digest(text))
            if _HEX.fullmatch(text)
            else None
        )

    def _with_digest(self, text: str) -> list[_Known]:
        names = set()
        looked_at: set[str] = set()
        for graph in self._graphs:
            for binary in self._dump.rows(Binary, graph):
                for path in {f"{self._dump.folder(graph)}/{stage.path}" for stage in binary.stages} - looked_at:
                    looked_at.add(path)
                    if self._digest(Path(path)).startswith(text):
                        names.add(Id(graph, binary.kernel))
        return [known for known in self._known if compiled_as(names, known.kernel.graph, known.kernel.name) in names]

    def _digest(self, path: Path) -> str:
        """SHA-256 of a file of the dump; empty if it is missing, or too large to be a compiler's output."""
        file = file_inside(self._dump.root, path)
        if file is None:
            return ""
        with file:
            data = file.read(_LARGEST + 1)
        return hashlib.sha256(data).hexdigest() if len(data) <= _LARGEST else ""

    def by_signature(self, text: str) -> Resolved | None:
        """Read as `triton__0d1c`."""
        said = kernel_symbols.decode(text)
        if said is None:
            return None
        found, others = [], []
        for known in self._known:
            own = self._letters(known.kernel)
            if own is None or not _is_called(known, said.function):
                continue
            if kernel_symbols.agrees(said.letters, own):
                found.append(known)
            else:
                name = f"{said.function}_{kernel_symbols.suffix(own)}"
                others.append(f"{known.kernel.name} is not one of them: it is {name}")
        how = f"a signature of Triton 2: {said.words}"
        remarks = (*others[:3], *([f"and {len(others) - 3} more are not"] if len(others) > 3 else []))
        if not found:
            return Resolved(text, how, [], remarks) if others else None
        return self._resolved(text, how, found, remarks=remarks, told_by=_tells_apart(found))

    def _letters(self, kernel: Kernel) -> tuple[str, ...] | None:
        if kernel.kind not in ON_GPU or not kernel.source:
            return None
        return kernel_symbols.of_source(self._dump.text(kernel.graph, kernel.source) or "")

    def by_cpp(self, text: str) -> Resolved | None:
        """Read as a C++ symbol, mangled or not: `kernel` is the function of every C++ kernel of Inductor."""
        names = kernel_symbols.identifiers(text)
        found = [known for known in self._known if known.kernel.name in names]
        if found:
            return self._resolved(text, "a C++ symbol", found)
        of_cpp = [known for known in self._known if known.kernel.kind == "cpp"]
        if "kernel" not in names or not of_cpp or "<" in text:
            return None
        given = kernel_symbols.parameters(text)
        if given is not None:
            of_cpp = [known for known in of_cpp if self._cpp_types(known.kernel) == given] or of_cpp
        return self._resolved(text, "the function of every C++ kernel that Inductor makes", of_cpp)

    def _cpp_types(self, kernel: Kernel) -> list[str]:
        return kernel_symbols.parameters(self._dump.text(kernel.graph, kernel.source) or "") or []

    def by_part(self, text: str) -> Resolved | None:
        """Read as a truncated name: its beginning, or its beginning and end around dots."""
        head, *rest = _CUT.split(text, maxsplit=1)
        tail = rest[0] if rest else ""
        if len(head) + len(tail) < _SHORTEST:
            return None
        found = [
            known
            for known in self._known
            if any(
                name.startswith(head) and name.endswith(tail) for name in (known.kernel.name, known.function) if name
            )
        ]
        return self._resolved(text, "a truncated name", found, told_by=_tells_apart(found))

    def by_library(self, text: str) -> Resolved | None:
        """Read as a kernel of a library: the extern calls that can have launched it."""
        library = library_of(text)
        if library is None:
            return None
        of = "an operator's own" if library.does == "operator" else library.does
        how = f"a kernel of {library.name} ({of})"
        found = [
            known for known in self._known if known.kernel.kind == "extern" and can_launch(known.kernel.name, library)
        ]
        if not found:
            return Resolved(text, how, [], ("no extern call of this dump launches such kernels",))
        sure = "certain" if len(found) == 1 and len(found[0].calls) == 1 and library.does != "operator" else "possible"
        return self._resolved(text, how, found, confidence=sure, told_by="" if sure == "certain" else "calls")


_READINGS: Final[tuple[Callable[[Names, str], Resolved | Unknown | None], ...]] = (
    Names.by_name,
    Names.by_function,
    Names.by_line,
    Names.by_handle,
    Names.by_signature,
    Names.by_text,
    Names.by_hash,
    Names.by_cpp,
    Names.by_library,
    Names.by_part,
)
"""The readings of a name, most certain first."""


def _is_called(known: _Known, function: str) -> bool:
    """True if Triton 2 can have given it that name: `triton_` was the function of every Inductor kernel."""
    return function in (known.function, known.kernel.name) or (
        function == "triton_" and known.kernel.kind != USER_TRITON
    )


def _tells_apart(found: Sequence[_Known]) -> TellsApart:
    return "launches" if len(found) > 1 else ""
