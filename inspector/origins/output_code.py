"""The code that Inductor generated for a graph, `output_code.py`, as facts: kernels and the lines of the wrapper."""

import ast
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Final

from inspect_compile.dump import paths
from inspect_compile.facts import Fact, Kernel
from inspect_compile.origins.dtypes import storage_bytes
from inspect_compile.origins.kernel_definitions import Definition, definitions
from inspect_compile.origins.python_text import NotReadError, dotted, number, numbers, parsed
from inspect_compile.origins.wrapper_lines import Launch, Surroundings, WrapperFunction, read_function

_CALL: Final = "call"
_RUNNER: Final = "Runner"
_PARTITION: Final = "partition_"
_EXAMPLE: Final = "rand_strided"
_CPP: Final = "cpp_wrapper_src"
_DEEPEST: Final = 50
"""Maximum depth of nested graphs."""


@dataclass(frozen=True)
class OutputCode:
    """What the code of a graph tells."""

    facts: tuple[Fact, ...] = ()
    sources: tuple[tuple[str, str], ...] = ()
    """Path of a kernel's source, relative to the graph's folder, and its text."""
    symbols: Mapping[str, int] = field(default_factory=dict)
    """Symbol in the sizes → its value in the example."""
    note: str = ""
    """Why there is less than usual, in a sentence; empty if there is not."""
    cpp: str = ""
    """The wrapper, if it is C++: with as many empty lines before it as it has lines of Python before it."""
    given: Mapping[str, int | None] = field(default_factory=dict)
    """Bytes of what that is called with, as far as they are known."""


def code_facts(graph: str, text: str) -> Iterator[Fact]:
    """The facts of the code of `graph`: kernels and the lines of the wrapper, none if the text is not read."""
    yield from read_code(graph, text).facts


def read_code(graph: str, text: str, bytes_of: Mapping[str, int] | None = None) -> OutputCode:
    """What the code of `graph` tells; `bytes_of`: buffer → bytes, where another text of the graph says that."""
    try:
        module, lines = parsed(text)
        for statement in module.body:
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Constant(value=str(inner), lineno=line)) if (
                    name == _CPP
                ):
                    given, symbols = _example(module)
                    return OutputCode(symbols=symbols, cpp="\n" * (line - 1) + inner, given=given)
        return _Reader(graph, module, lines, bytes_of or {}).read()
    except NotReadError as error:
        return OutputCode(note=f"the generated code of {graph} is not read: {error}")
    except RecursionError:
        return OutputCode(note=f"the generated code of {graph} is not read: it is nested too deeply")


class _Reader:
    """Reads one module."""

    def __init__(self, graph: str, module: ast.Module, lines: list[str], bytes_of: Mapping[str, int]) -> None:
        self._graph, self._lines = graph, lines
        self._defined = definitions(module, lines)
        self._functions = _functions(module)
        self._inputs, symbols = _example(module)
        self._around = Surroundings(
            lines,
            {name: one.source for name, one in self._defined.items()},
            {name: one.device for name, one in self._defined.items()},
            frozenset(self._functions) - {_CALL},
            bytes_of,
            symbols,
        )

    def read(self) -> OutputCode:
        """Everything, nested graphs first."""
        if _CALL not in self._functions:
            return OutputCode(note=f"the generated code of {self._graph} has no function that is known")
        parts = self._parts()
        facts: list[Fact] = []
        sources: dict[str, str] = {}
        unclaimed = dict(self._defined)
        for function in (function for _, functions in parts for function in functions):
            facts += function.rows
            facts += [function.plan] if function.plan is not None else []
        for graph, functions in parts:
            launches = [launch for function in functions for launch in function.launches]
            claimed = dict.fromkeys(launch.kernel for launch in launches)
            mine = [one for name, one in self._defined.items() if name in claimed]
            if graph == self._graph:
                mine = [one for name, one in self._defined.items() if name in claimed or name in unclaimed]
            for kernel in mine:
                path = self._source_path(graph, kernel)
                unclaimed.pop(kernel.name, None)
                if path:
                    sources[path] = kernel.source
                facts.append(_kernel(graph, kernel, path, launches, functions))
            facts += [_extern(graph, launch) for function in functions for launch in function.externs]
        return OutputCode(tuple(facts), tuple(sources.items()), self._around.symbols)

    def _source_path(self, graph: str, kernel: Definition) -> str:
        if not kernel.source:
            return ""
        extension = "cpp" if kernel.device == "cpu" else "py"
        return f"{paths.kernel_folder(graph, kernel.name)}/source.{extension}"

    def _parts(self) -> list[tuple[str, list[WrapperFunction]]]:
        """Each graph with its functions, nested graphs before the one around them."""
        sizes: dict[str, int | None] = dict(self._inputs)
        own: list[WrapperFunction] = []
        for name in (*sorted(filter(_is_partition, self._functions), key=_number), _CALL):
            read = read_function(self._graph, self._functions[name], self._around, sizes)
            sizes.update(read.bytes_of)
            own.append(read)
        seen = {name for name in self._functions if _is_partition(name)} | {_CALL}
        return [*self._called_by(self._graph, own, seen, _DEEPEST), (self._graph, own)]

    def _called_by(
        self, graph: str, callers: list[WrapperFunction], seen: set[str], deepest: int
    ) -> Iterator[tuple[str, list[WrapperFunction]]]:
        for caller in callers:
            for name in caller.called if deepest else ():
                if name in seen:
                    continue
                seen.add(name)
                nested = f"{graph}/{paths.safe_name(name)}"
                function = self._functions[name]
                given = dict(zip(_inputs_of(function), caller.passed.get(name, ()), strict=False))
                read = read_function(nested, function, self._around, given)
                yield from self._called_by(nested, [read], seen, deepest - 1)
                yield nested, [read]


def _functions(module: ast.Module) -> dict[str, ast.FunctionDef]:
    """The functions that take a list of arguments, by name; `call` may be a method of `Runner`."""
    found: dict[str, ast.FunctionDef] = {}
    for statement in module.body:
        match statement:
            case ast.FunctionDef(name=name, args=ast.arguments(args=[ast.arg(arg="args")])):
                found[name] = statement
            case ast.ClassDef(name=name, body=body) if name == _RUNNER:
                found.update(
                    {each.name: each for each in body if isinstance(each, ast.FunctionDef) and each.name == _CALL}
                )
    return found


def _example(module: ast.Module) -> tuple[dict[str, int | None], dict[str, int]]:
    """Bytes of the graph's inputs, and the numbers among them, as the module makes examples of them."""
    sizes: dict[str, int | None] = {}
    symbols: dict[str, int] = {}
    functions = [one for one in module.body if isinstance(one, ast.FunctionDef)]
    for statement in (each for function in functions for each in function.body):
        match statement:
            case ast.Assign(targets=[ast.Name(id=name)], value=ast.Call(func=ast.Name(id="rand_strided")) as call):
                words = {word.arg: word.value for word in call.keywords}
                size, stride = (numbers(one, {}) for one in (*call.args, None, None)[:2])
                dtype = dotted(words["dtype"]).rpartition(".")[2] if "dtype" in words else ""
                sizes[name] = None if size is None or stride is None else storage_bytes(dtype, size, stride)
            case ast.Assign(targets=[ast.Name(id=name)], value=value) if (known := number(value, {})) is not None:
                sizes[name], symbols[name] = 0, known
    for name, function in _functions(module).items():
        for statement in function.body if name == _CALL else ():
            match statement:
                case ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=other)) if other in symbols:
                    symbols[name] = symbols[other]
    return sizes, symbols


def _inputs_of(function: ast.FunctionDef) -> list[str]:
    for statement in function.body:
        match statement:
            case ast.Assign(targets=[ast.Tuple(elts=elements)], value=ast.Name(id="args")):
                return [dotted(element) for element in elements]
    return []


def _is_partition(name: str) -> bool:
    return name.startswith(_PARTITION) and name.removeprefix(_PARTITION).isdecimal()


def _number(name: str) -> int:
    return int(name.removeprefix(_PARTITION)[:9])


def _kernel(
    graph: str, kernel: Definition, path: str, launches: list[Launch], functions: list[WrapperFunction]
) -> Kernel:
    is_triton = kernel.kind == "triton"
    return Kernel(
        graph=graph,
        name=kernel.name,
        kind=kernel.kind,
        form=kernel.form,
        device=kernel.device,
        nodes=kernel.nodes,
        source=path,
        path=kernel.path,
        defined_at=kernel.first,
        defined_to=kernel.last,
        launches=tuple(launch.line for launch in launches if launch.kernel == kernel.name),
        metadata=kernel.metadata,
        numel=kernel.numel,
        inplace=tuple(each for one in functions for each in one.in_place.get(kernel.name, ())) if is_triton else (),
    )


def _extern(graph: str, launch: Launch) -> Kernel:
    return Kernel(
        graph=graph,
        name=launch.kernel,
        kind="extern",
        form="extern",
        device=launch.device,
        launches=(launch.line,),
    )
