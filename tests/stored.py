"""A second opinion of which node a statement is of, from the generated code alone.

Each kernel's source, C++ or Triton, is read as text: which value flows into which, block by block, and through which
pointer it is stored in the end. The call in output_code.py tells which buffer that pointer is, and the scheduler of
which nodes that buffer is made. A statement can only be of those.
"""

import ast
import re
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

from inspect_compile.dump import Dump
from inspect_compile.facts import KernelBody, Node, Operation
from inspect_compile.graph import CompiledGraph
from inspect_compile.graph.kernels.launches import Launch

_VARIABLE = re.compile(r"\b_?(?:tmp\w*|\w*cascade_helper\w*|\w*welford_helper\w*)\b")
_FUNCTION = re.compile(r"\b(?:void|def)\s.*?\b\w+\((.*?)\)\s*[:{]?\s*$", re.DOTALL | re.MULTILINE)
_TO = r"((?:in_)?out_ptr\d+|local_buffer_data_\d+)"
_STORE = re.compile(
    rf"{_TO}\s*\[|.*\.store\({_TO}\b|tl\.(?:store|atomic_\w+)\((\w+)"
    rf"|atomic_add\w*(?:<.*?>)?\(&?{_TO}|transpose_mxn.*,\s*{_TO}\b"
)
_DECLARES = re.compile(r"(?:alignas\(.*\)\s+)?(?:[A-Za-z_][\w:]*(?:<.*>)?[\s&*]+)+$")
_INDEX = "an index"
"""Stands among the pointers for what decides where something is loaded from: torch names no origins for that."""
_INDEXED = re.compile(r"ptr\d+(?:\[| \+ )(.*)")
_LAMBDA = re.compile(r"=\s*\(?\[&\]")


@dataclass(eq=False)
class _Variable:
    """One variable, as long as its block."""

    into: set["_Variable"] = field(default_factory=set)
    stored: set[str] = field(default_factory=set)


@dataclass
class _Scope:
    names: dict[str, _Variable] = field(default_factory=dict)
    returns: _Variable | None = None


def stored(source: str) -> dict[int, set[str]]:
    """Line → the pointers through which what it computes, or stores, gets out of the kernel; lines of no value not."""
    cpp = "def " not in source
    scopes, waiting, declared = [_Scope()], None, None
    owners: dict[int, _Variable] = {}
    found: dict[int, set[str]] = {}
    for number, text in enumerate(source.splitlines(), 1):
        line = text.strip()
        if cpp and line.startswith(("for", "if", "#", "while", "}")) and "tmp" not in line.partition(")")[2]:
            pass
        elif store := _STORE.match(line):
            pointer = next(name for name in store.groups() if name is not None)
            found[number] = {pointer}
            for name in _VARIABLE.findall(line):
                _known(scopes, name).stored.add(pointer)
        elif names := list(_VARIABLE.finditer(line)):
            if line.startswith("return"):
                target = next((scope.returns for scope in reversed(scopes) if scope.returns is not None), None)
                values = [_known(scopes, name[0]) for name in names]
            elif cpp and _DECLARES.match(line[: names[0].start()]):
                values = [_known(scopes, name[0]) for name in names[1:]]
                target = declared = scopes[-1].names[names[0][0]] = _Variable()
                waiting = target if _LAMBDA.search(line) else waiting
            elif not cpp and (assigned := re.match(r"[\w, ]+=[^=]", line)):
                values = [_known(scopes, name[0]) for name in names if name.start() >= assigned.end() - 1]
                target = None
                for name in names:
                    if name.start() < assigned.end() - 1:
                        old = scopes[0].names.get(name[0])
                        made = scopes[0].names[name[0]] = _Variable()
                        if old is not None:  # goes round a loop
                            old.into.add(made)
                            made.into.add(old)
                        if target is not None:  # of several values that come at once each may be what is stored
                            target.into.add(made)
                            made.into.add(target)
                        target = made
            else:
                target, *values = [_known(scopes, name[0]) for name in names]
                if names[0].start() > 0 or ".store(" in line:  # a call that writes where it is told to
                    for value in values:
                        target.into.add(value)
            if (at := _INDEXED.search(line)) is not None:
                for name in _VARIABLE.findall(at[1]):
                    _known(scopes, name).stored.add(_INDEX)
            if target is not None:
                owners[number] = target
                for value in values:
                    value.into.add(target)
        if cpp and line.startswith("[&]"):
            waiting = declared
        if cpp:
            for brace in re.findall(r"[{}]", line):
                if brace == "{":
                    scopes.append(_Scope(returns=waiting))
                    waiting = None
                elif len(scopes) > 1:
                    scopes.pop()
    for number, variable in owners.items():
        found.setdefault(number, set()).update(_reached(variable))
    return found


def _known(scopes: list[_Scope], name: str) -> _Variable:
    for scope in reversed(scopes):
        if name in scope.names:
            return scope.names[name]
    return scopes[-1].names.setdefault(name, _Variable())


def _reached(variable: _Variable) -> set[str]:
    seen, ahead, found = {variable}, [variable], set[str]()
    while ahead:
        at = ahead.pop()
        found |= at.stored
        ahead += at.into - seen
        seen |= at.into
    return found


def statements_astray(dump: Dump) -> list[str]:
    """Statements that are told to be of nodes that flow into nothing that they are stored to."""
    found, checked = [], 0
    for graph in dump.graphs():
        if "/" in graph.graph:
            continue
        calls: dict[tuple[str, str], list[Launch]] = {}
        for call in CompiledGraph(dump, graph.graph).launches:
            calls.setdefault((call.graph, call.kernel.name), []).append(call)
        operations = {
            (row.graph, row.name): row
            for row in dump.rows(Operation, graph.graph)
            if row.phase == "pre_fusion" and row.kind != "fused"
        }
        inputs = {(row.graph, row.name): row.inputs for row in dump.rows(Node, graph.graph) if row.stage == "post_grad"}
        computed = partial(_computed, operations=operations, inputs=inputs)
        code = (dump.text(graph.graph, "output_code.py") or "").splitlines()
        for body in dump.rows(KernelBody, graph.graph):
            own = [call for call in calls.get((body.graph, body.kernel), ()) if {*call.operations} & {*body.operations}]
            if not own or own[0].kernel.kind not in ("cpp", "triton"):
                continue
            source = dump.text(body.graph, own[0].kernel.source) or ""
            flows = stored(source)
            allowed, others = _made(
                source,
                set().union(*flows.values()) - {_INDEX},
                _arguments(code, own[0]),
                [operations[body.graph, name] for name in body.operations if (body.graph, name) in operations],
                computed,
            )
            for row in body.statements:
                pointers = flows.get(row.line)
                if not pointers:
                    continue
                checked += 1
                named = {body.nodes[index] for index in row.nodes}
                may = set().union(*(allowed.get(pointer, others) for pointer in pointers - {_INDEX}))
                if _INDEX in pointers:
                    may |= _before(may, inputs, body.graph)
                if not named <= may:
                    text = source.splitlines()[row.line - 1].strip()
                    found.append(f"{body.kernel}:{row.line}: {text} is of {sorted(named - may)}, not {sorted(may)}")
    assert checked or not any(True for _ in dump.rows(KernelBody))
    return found


def _before(names: set[str], inputs: dict[tuple[str, str], tuple[str, ...]], graph: str) -> set[str]:
    """The nodes that these are computed from."""
    found, ahead = set(names), [*names]
    while ahead:
        new = set(inputs.get((graph, ahead.pop()), ())) - found
        found |= new
        ahead += new
    return found


def _computed(
    row: Operation, operations: dict[tuple[str, str], Operation], inputs: dict[tuple[str, str], tuple[str, ...]]
) -> set[str]:
    """The nodes of an operation, and those before them that it computes again: of no buffer that it reads.

    torch does not name the latter among an operation's origins where a buffer was made of them later.
    """
    buffers = {access.buffer for access in row.reads}
    read = {
        node
        for (graph, _), other in operations.items()
        if graph == row.graph and not buffers.isdisjoint(other.buffers)
        for node in other.nodes
    }
    found, ahead = set(row.nodes), [*row.nodes]
    while ahead:
        new = set(inputs.get((row.graph, ahead.pop()), ())) - found - read
        found |= new
        ahead += new
    return found


def _made(
    source: str,
    pointers: set[str],
    arguments: list[str],
    rows: list[Operation],
    computed: Callable[[Operation], set[str]],
) -> tuple[dict[str, set[str]], set[str]]:
    """Pointer → the nodes of what is stored through it; and those of all that is stored through none of the signature.

    `pointers`: those that anything is stored through; others may be a buffer's that was never needed in memory.
    `computed`: the nodes of an operation.
    """
    signature = _FUNCTION.search(source)
    parameters = [
        text.split(":")[0].split()[-1].strip("*&")
        for text in (signature[1] if signature else "").split(",")
        if text.strip()
    ]
    writers = {
        parameter: own
        for parameter, argument in zip(parameters, arguments, strict=False)
        if parameter in pointers
        and (own := [row for row in rows if any(argument in (one.buffer, one.into) for one in row.writes)])
    }
    named = {row.name for own in writers.values() for row in own}
    inside = [row for row in rows if row.name not in named]
    others = {node for row in inside for node in computed(row)}
    allowed = {
        parameter: {node for row in _with_inside(own, inside) for node in computed(row)}
        for parameter, own in writers.items()
    }
    for parameter in allowed:
        if parameter.startswith("in_out"):
            allowed[parameter] |= others  # other buffers may have had the same memory before
    return allowed, others


def _with_inside(writers: list[Operation], inside: list[Operation]) -> list[Operation]:
    """Operations, and those that they read of without a pointer: in the same loop, from a register."""
    makers = {buffer: row for row in inside for buffer in row.buffers}
    found, ahead = {row.name: row for row in writers}, [*writers]
    while ahead:
        for access in ahead.pop().reads:
            maker = makers.get(access.buffer)
            if maker is not None and maker.name not in found:
                found[maker.name] = maker
                ahead.append(maker)
    return [*found.values()]


def _arguments(code: list[str], call: Launch) -> list[str]:
    """The names that a call of a kernel is given, in their order."""
    if call.line is None:
        return []
    for length in range(1, 40):
        text = "\n".join(code[call.line - 1 : call.line - 1 + length]).strip()
        try:
            parsed = ast.parse(text)
        except SyntaxError:
            continue
        found = next(node for node in ast.walk(parsed) if isinstance(node, ast.Call))
        return [argument.id if isinstance(argument, ast.Name) else ast.unparse(argument) for argument in found.args]
    return []
