"""The lines of a generated function that allocates buffers and launches kernels, as rows of the wrapper.

What the text does not say stays unknown: bytes of what an extern kernel returns, and lines that write nothing.
"""

import ast
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, NamedTuple

from inspect_compile.facts import MemoryPlan, WrapperLine
from inspect_compile.knowledge.kernels.parameters import pointers_of
from inspect_compile.origins.dtypes import storage_bytes
from inspect_compile.origins.python_text import dotted, numbers, source_of

_EXTERN: Final = ("extern_kernels", "torch", "aten", "inductor_ops", "_quantized")
"""What the name of a library call begins with."""
_CLASSES: Final = {
    "allocate": "AllocateLine",
    "reuse": "ReuseLine",
    "reinterpret": "ReinterpretLine",
    "launch": "KernelCallLine",
    "multi_output": "MultiOutputLine",
    "pool_allocate": "AllocFromPoolLine",
    "comment": "CommentLine",
    "enter_subgraph": "EnterSubgraphLine",
    "exit_subgraph": "ExitSubgraphLine",
}
"""Kind of a line → torch's class of lines that write it."""
_FALLBACKS: Final = {"aten.scatter": "ScatterFallbackLine", "aten.index_put": "IndexPutFallbackLine"}
_SHORT, _LONG = 300, 20_000
"""Maximum characters kept of a plain line, and of one that lists the arguments of a nested graph."""
_ARGUMENTS: Final = "_args"
"""The arguments of another function of the module are in a list named after it, with this suffix."""
_IN_PLACE: Final = "in_out_ptr"
_HANDLES: Final = "# [Provenance debug handles]"
_HOST: Final = "cpu"
"""The device of a library call that no device was chosen for."""
_NEXT_ROUND: Final = "should_loop = "
_PARTITION: Final = "partition"
_SUBGRAPH: Final = "# subgraph: "
_STREAM: Final = "get_raw_stream"
_NAME: Final = re.compile(r"[A-Za-z_]\w*")


class Launch(NamedTuple):
    """One call of a kernel or a library."""

    kernel: str
    line: int
    device: str


@dataclass
class WrapperFunction:
    """One function of the generated module."""

    rows: list[WrapperLine]
    plan: MemoryPlan | None
    """None where the text does not say what comes in."""
    launches: list[Launch]
    """Calls of the module's own kernels."""
    externs: list[Launch]
    """Calls of libraries."""
    passed: dict[str, list[int | None]]
    """Nested graph that it calls → bytes of each argument; None where they are not known."""
    called: tuple[str, ...]
    """The functions of the module that it calls, in order."""
    in_place: dict[str, tuple[str, ...]]
    """Kernel → `buf6←buf5` for each buffer that it writes over."""
    bytes_of: dict[str, int | None]
    """Every name that it binds → bytes, as far as they are known."""


@dataclass
class Surroundings:
    """What a function of the module can name."""

    lines: list[str]
    kernels: Mapping[str, str]
    """Kernel → its source."""
    devices: Mapping[str, str]
    """Kernel → its device."""
    functions: frozenset[str]
    """Functions of the module."""
    bytes_of: Mapping[str, int]
    """Buffer → bytes, where another text said so."""
    symbols: dict[str, int] = field(default_factory=dict)
    """Symbol → its value in the example."""


def read_function(
    graph: str, function: ast.FunctionDef, around: Surroundings, inputs: Mapping[str, int | None]
) -> WrapperFunction:
    """The rows of one function; `inputs`: bytes of what it is called with, by name, as far as that is known."""
    reader = _Reader(graph, around, inputs)
    reader.block(function.body)
    return reader.done()


class _Reader:
    """Reads the statements of one function, in order."""

    def __init__(self, graph: str, around: Surroundings, inputs: Mapping[str, int | None]) -> None:
        self._graph, self._around = graph, around
        self._inputs: tuple[str, ...] | None = None
        self._outputs: tuple[str, ...] = ()
        self._rows: list[dict[str, Any]] = []
        self._bytes: dict[str, int | None] = dict(inputs)
        self._launches: list[Launch] = []
        self._externs: list[Launch] = []
        self._passed: dict[str, list[int | None]] = {}
        self._called: dict[str, None] = {}
        self._pools: dict[str, int | None] = {}
        self._device = _HOST
        self._line = 0
        """The last line that was read."""
        self._is_in_loop = False
        self._inside = ""
        """The nested graph whose call is being read."""

    def done(self) -> WrapperFunction:
        """All that was read."""
        in_place = planned_reuses(self._rows, self._around.kernels)
        known = {name: self._size(name) for name in self._inputs or ()}
        rows = [WrapperLine(graph=self._graph, index=index, **row) for index, row in enumerate(self._rows)]
        sizes = {name: size for name, size in known.items() if size is not None}
        plan = MemoryPlan(graph=self._graph, inputs=sizes, outputs=self._outputs) if len(sizes) == len(known) else None
        return WrapperFunction(
            rows, plan, self._launches, self._externs, self._passed, tuple(self._called), in_place, self._bytes
        )

    def block(self, statements: list[ast.stmt]) -> None:
        """Read statements."""
        position = 0
        while position < len(statements):
            statement = statements[position]
            if statement.lineno == self._line:  # torch writes one statement a line: the time is that of the lines
                position += 1
                continue
            after = statements[position + 1] if position + 1 < len(statements) else None
            self._comments(statement.lineno)
            deletes = isinstance(after, ast.Delete) and after.lineno == statement.lineno
            self._statement(statement, deletes=deletes)
            self._line = max(self._line, statement.end_lineno or statement.lineno)
            position += 1 + deletes

    def _comments(self, before: int) -> None:
        lines = self._around.lines
        for line in range(self._line + 1, before) if self._line else ():
            text = lines[line - 1].strip()
            if text.startswith(_SUBGRAPH):
                self._inside = text.removeprefix(_SUBGRAPH).strip()
                self._add("enter_subgraph", None)
            if text.startswith("#") and not text.startswith(_HANDLES):
                self._add("comment", line)

    def _add(self, what: str, line: int | None, end: int | None = None, **fields: Any) -> dict[str, Any]:
        """Add a row that begins with the comment about it, or the line that gets its stream."""
        if line is not None and self._line and line > 1 and what != "comment":
            above = self._around.lines[line - 2].strip()
            line -= above.startswith(_HANDLES) and line - 1 > self._line
        row = {"what": what, "line": line, "end": line if end is None else end, "torch_type": _CLASSES.get(what, "")}
        row.update(fields)
        self._rows.append(row)
        return row

    def _text(self, what: str, statement: ast.stmt, end: int | None = None) -> None:
        first, last = statement.lineno, end or statement.end_lineno or statement.lineno
        text = "\n".join(self._around.lines[first - 1 : last])[statement.col_offset :]
        if text.startswith(_NEXT_ROUND) and self._is_in_loop:
            text = f"    {text}"  # as torch writes it: not as the part of a nested graph
        self._add(what, first, last, text=text[: _LONG if "_args = [" in text else _SHORT], torch_type="str")

    def _size(self, name: str) -> int | None:
        return self._around.bytes_of.get(name, self._bytes.get(name))

    def _statement(self, statement: ast.stmt, *, deletes: bool) -> None:
        match statement:
            case ast.With():
                self._with(statement)
            case ast.If() | ast.While() | ast.For():
                self._text("text", statement, statement.lineno)
                self._line = statement.lineno
                is_in_loop, self._is_in_loop = self._is_in_loop, self._is_in_loop or isinstance(statement, ast.While)
                self.block(statement.body)
                self._is_in_loop = is_in_loop
                if statement.orelse:
                    self._otherwise(statement)
            case ast.Delete(targets=targets):
                self._delete(statement, targets)
            case ast.Assert():
                self._text("assert", statement)
            case ast.Return(value=value):
                self._outputs = tuple(map(_returned, value.elts)) if isinstance(value, ast.Tuple) else ()
            case ast.Assign(targets=[ast.Name(id=name)], value=value):
                self._assigned(statement, name, value, deletes=deletes)
            case ast.Assign(targets=[ast.Tuple(elts=elements)], value=ast.Name(id="args")):
                self._inputs = tuple(element.id for element in elements if isinstance(element, ast.Name))
            case ast.Expr(value=ast.Call() as call):
                self._call(statement, call)
            case ast.Assign(value=ast.Call() as call):
                self._nested(statement, call)
            case ast.Pass() | ast.Global() | ast.Import() | ast.ImportFrom():
                pass
            case _:
                self._text("text", statement)

    def _otherwise(self, statement: ast.If | ast.While | ast.For) -> None:
        lines = self._around.lines
        at = next(
            (line for line in range(self._line + 1, statement.orelse[0].lineno) if lines[line - 1].strip() == "else:"),
            None,
        )
        if at is not None:
            self._add("text", at, text="else:", torch_type="str")
            self._line = at
        self.block(statement.orelse)

    def _with(self, statement: ast.With) -> None:
        body, chosen = statement.body, statement.items[0].context_expr
        is_set = (
            isinstance(body[0], ast.Expr)
            and isinstance(body[0].value, ast.Call)
            and dotted(body[0].value.func).endswith(".set_device")
        )
        before, line = self._device, body[0].lineno if is_set else statement.lineno
        name = dotted(chosen.func) if isinstance(chosen, ast.Call) else ""
        kind = "DeviceContextManagerLine" if "." in name and name.endswith("DeviceGuard") else "CudaStreamContextLine"
        if isinstance(chosen, ast.Call) and chosen.args and kind.startswith("Device"):
            self._device = f"{name.split('.')[-2]}:{source_of(chosen.args[0], self._around.lines)}"
        self._add("device", statement.lineno, line, torch_type=f"Enter{kind}")
        self._line = line
        self.block(body[1:] if is_set else body)
        self._device = before
        self._add("device", None, torch_type=f"Exit{kind}")

    def _delete(self, statement: ast.Delete, targets: list[ast.expr]) -> None:
        match targets:
            case [ast.Name(id=name)] if not name.endswith(_ARGUMENTS) and not self._passes_on():
                if name in self._pools:
                    self._add("pool_free", statement.lineno, buffer=name, pool=name, is_last=True)
                else:
                    self._free(statement, name)
            case _:
                self._text("text", statement)

    def _passes_on(self) -> bool:
        """Whether a partition is about to be called, with what is deleted here."""
        return bool(self._rows) and self._rows[-1].get("text", "").startswith(_PARTITION)

    def _free(self, statement: ast.Delete, name: str) -> None:
        is_input = name in (self._inputs or ())
        self._add(
            "free",
            statement.lineno,
            buffer=name,
            bytes=self._size(name),
            is_reused=None if is_input else False,
            torch_type="FreeLine" if is_input else "FreeIfNotReusedLine",
        )

    def _assigned(self, statement: ast.Assign, name: str, value: ast.expr, *, deletes: bool) -> None:
        match value:
            case ast.Name(id="args"):
                self._inputs = (name,)
            case ast.Name(id=other) if other in (self._inputs or ()) and not self._rows:
                pass  # the name of a size
            case ast.Name(id=other):
                self._renamed(statement, name, other, deletes=deletes)
            case ast.Subscript():
                text = source_of(value, self._around.lines)
                self._bytes.setdefault(name, None)
                self._add("multi_output", statement.lineno, buffer=name, text=text)
            case ast.Call(func=ast.Attribute(value=ast.Call() as inner, attr="as_strided" | "view")):
                self._assigned(statement, name, inner, deletes=deletes)
            case ast.List(elts=elements):
                if name.endswith(_ARGUMENTS):
                    self._passed[name.removesuffix(_ARGUMENTS)] = [
                        self._size(_returned(element)) if _returned(element) else None for element in elements
                    ]
                self._text("text", statement)
            case ast.Call():
                self._bound(statement, name, value, deletes=deletes)
            case ast.BinOp() | ast.Constant() | ast.UnaryOp():
                what = "text" if isinstance(value, ast.BinOp) and isinstance(value.left, ast.List) else "host"
                self._text(what, statement)
            case _:
                self._text("text", statement)

    def _renamed(self, statement: ast.Assign, name: str, other: str, *, deletes: bool) -> None:
        line, size = statement.lineno, self._size(other)
        comment = self._around.lines[line - 1].rpartition("#")[2].strip()
        self._bytes[name] = size
        if comment == "reuse":
            self._add("reuse", line, buffer=other, becomes=name, bytes=size, delete_old=deletes)
        elif comment == "alias":
            self._add("reinterpret", line, buffer=other, becomes=name, bytes=size, delete_old=False)
        elif f"{name} = " == _NEXT_ROUND:
            self._text("text", statement)
        else:
            self._add("multi_output", line, buffer=name, text=other)

    def _bound(self, statement: ast.Assign, name: str, call: ast.Call, *, deletes: bool) -> None:
        function = dotted(call.func)
        last = function.rpartition(".")[2]
        if "empty_strided" in last:
            self._allocated(statement, name, call)
        elif last in ("reinterpret_tensor", "_reinterpret_tensor") and call.args and isinstance(call.args[0], ast.Name):
            self._renamed(statement, name, call.args[0].id, deletes=deletes)
        elif last == "alloc_from_pool" and call.args and isinstance(call.args[0], ast.Name):
            self._from_pool(statement, name, call, call.args[0].id)
        elif last == "copy_if_misaligned":
            self._text("align", statement)
        elif _STREAM in last or last == "item":
            self._text("host", statement)
        elif function in self._around.functions:
            self._nested(statement, call)
        elif function.partition(".")[0] in _EXTERN:
            self._bytes[name] = None
            self._extern(statement, function, name, "ExternKernelAllocLine")
        else:
            self._text("text", statement)

    def _allocated(self, statement: ast.Assign, name: str, call: ast.Call) -> None:
        words = {word.arg: word.value for word in call.keywords}
        size = numbers(call.args[0] if call.args else words.get("size"), self._around.symbols)
        stride = numbers(call.args[1] if len(call.args) > 1 else words.get("stride"), self._around.symbols)
        dtype = dotted(words["dtype"] if "dtype" in words else call.args[2] if len(call.args) > 2 else call.func)
        known = None if size is None or stride is None else storage_bytes(dtype.rpartition(".")[2], size, stride)
        self._bytes[name] = known
        if name.startswith("pool"):
            self._pools[name] = known
            return
        self._add("allocate", statement.lineno, statement.end_lineno, buffer=name, bytes=self._size(name))

    def _from_pool(self, statement: ast.Assign, name: str, call: ast.Call, pool: str) -> None:
        size = numbers(call.args[3] if len(call.args) > 3 else None, self._around.symbols)
        stride = numbers(call.args[4] if len(call.args) > 4 else None, self._around.symbols)
        dtype = dotted(call.args[2]).rpartition(".")[2] if len(call.args) > 2 else ""
        self._bytes[name] = None if size is None or stride is None else storage_bytes(dtype, size, stride)
        self._add(
            "pool_allocate",
            statement.lineno,
            buffer=name,
            bytes=self._size(name),
            pool=pool,
            pool_bytes=self._pools.get(pool),
        )
        self._pools[pool] = None

    def _call(self, statement: ast.Expr, call: ast.Call) -> None:
        function = dotted(call.func)
        kernel = _launched(call, self._around.kernels)
        if function == "args.clear":
            return
        if kernel:
            self._launch(statement, call, kernel)
        elif function.startswith("assert_"):
            if function.startswith("assert_size_stride"):
                self._add("assert", statement.lineno, statement.end_lineno, torch_type="AssertSizeStrideLine")
            else:
                self._text("assert", statement)
        elif function in self._around.functions:
            self._nested(statement, call)
        elif function.endswith(".copy_") and function.count(".") == 1 and not function.startswith(_EXTERN):
            self._extern(statement, "aten.copy_", function.removesuffix(".copy_"), "str")
        elif function.partition(".")[0] in _EXTERN:
            out = next((word.value for word in call.keywords if word.arg == "out"), None)
            name = out.id if isinstance(out, ast.Name) else None
            kind = next((kind for prefix, kind in _FALLBACKS.items() if function.startswith(prefix)), None)
            kind = kind or ("ExternKernelAllocLine" if out is None else "ExternKernelOutLine")
            self._extern(statement, function, name, kind)
        else:
            self._text("text", statement)

    def _extern(self, statement: ast.stmt, kernel: str, buffer: str | None, kind: str) -> None:
        self._externs.append(Launch(kernel, statement.lineno, self._device))
        self._add(
            "extern",
            statement.lineno,
            statement.end_lineno,
            buffer=buffer,
            bytes=self._size(buffer) if buffer else None,
            kernel=kernel,
            torch_type=kind,
        )

    def _launch(self, statement: ast.Expr, call: ast.Call, kernel: str) -> None:
        lines = self._around.lines
        device = self._around.devices.get(kernel, "")
        first = statement.lineno
        before = self._rows[-1] if self._rows else {}
        if before.get("what") == "host" and _STREAM in before["text"] and before["end"] == first - 1:
            first = self._rows.pop()["line"]
        arguments = tuple(source_of(argument, lines) for argument in call.args)
        self._launches.append(Launch(kernel, statement.lineno, device))
        self._add("launch", first, statement.end_lineno, kernel=kernel, arguments=arguments, device=device)

    def _nested(self, statement: ast.stmt, call: ast.Call) -> None:
        """A call of another function of the module, or of a partition."""
        function = dotted(call.func)
        self._text("text", statement)
        if function in self._around.functions:
            self._called[function] = None
        if self._inside and function == self._inside:
            self._inside = ""
            self._add("exit_subgraph", None)


def planned_reuses(rows: list[dict[str, Any]], kernels: Mapping[str, str]) -> dict[str, tuple[str, ...]]:
    """Set which reuses memory planning made, and return what each kernel writes over.

    The others are of kernels that write in place: they are given the new name as `in_out_ptr`. `kernels`: kernel → its
    source.
    """
    following: dict[str, dict[str, Any]] = {}
    found: dict[str, tuple[str, ...]] = {}
    for row in reversed(rows):
        if row["what"] == "reuse":
            launch = following.get(row["becomes"], {})
            is_in_place = launch.get("what") == "launch" and row["becomes"] in _written_over(launch, kernels)
            row["is_planned"] = not is_in_place
            if is_in_place:
                over = f"{row['becomes']}←{row['buffer']}"
                found[launch["kernel"]] = (over, *found.get(launch["kernel"], ()))
        for name in _names(row):
            following[name] = row
    return found


def _written_over(launch: dict[str, Any], kernels: Mapping[str, str]) -> set[str]:
    pairs = zip(pointers_of(kernels[launch["kernel"]]), launch["arguments"], strict=False)
    return {argument for pointer, argument in pairs if pointer.startswith(_IN_PLACE)}


def _names(row: dict[str, Any]) -> Iterator[str]:
    yield from (row[name] for name in ("buffer", "becomes") if row.get(name))
    for argument in row.get("arguments", ()):
        yield from _NAME.findall(argument)


def _launched(call: ast.Call, kernels: Mapping[str, str]) -> str:
    """The kernel of the module that the call launches; empty for any other call."""
    function = call.func.value if isinstance(call.func, ast.Subscript) else call.func
    name = dotted(function).partition(".")[0]
    return name if name in kernels else ""


def _returned(value: ast.expr) -> str:
    """The buffer that is returned, or whose memory it is a view of; empty for a number and for nothing."""
    match value:
        case ast.Name(id=name):
            return name
        case ast.Call(args=[first, *_]):
            return _returned(first)
    return ""
