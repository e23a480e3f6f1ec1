"""FX graphs as torch prints them (`print_readable`): each node with its arguments, its tensor and the line it is from.

A line is parsed on its own, so that a torn text has all nodes before the tear. Of a node that returns several tensors
the text does not say which; nor does it say which module ran a node, or what it was decomposed from.
"""

import ast
import functools
import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from inspect_compile.facts import Location, Node, Tensor
from inspect_compile.knowledge.kernels.parameters import split_arguments
from inspect_compile.origins.dtypes import ABBREVIATED, ITEM_BYTES, product
from inspect_compile.origins.python_text import dotted

MOST_LINES: Final = 1_000_000
"""Further lines of a text are left out."""
_LONGEST_LINE: Final = 1 << 20
_LONGEST_ARGUMENT: Final = 200
_DEEPEST: Final = 8
"""Maximum depth of nested graphs."""

_CLASS: Final = re.compile(r"( *)class ([^\s(]+)\(")
_TYPE: Final = re.compile(r"\b(\w{1,20})\[")
_DEVICE: Final = re.compile(r"[a-z]{1,30}(?::\d{1,4})?")
_HEAD: Final = "def forward("
_FLATTEN: Final = "fx_pytree.tree_flatten_spec"
_OPERATORS: Final[dict[type[ast.AST], str]] = {
    ast.Add: "add", ast.Sub: "sub", ast.Mult: "mul", ast.FloorDiv: "floordiv", ast.Div: "truediv", ast.Mod: "mod",
    ast.Pow: "pow", ast.LShift: "lshift", ast.RShift: "rshift", ast.BitAnd: "and_", ast.BitOr: "or_",
    ast.BitXor: "xor", ast.MatMult: "matmul",
    ast.Eq: "eq", ast.NotEq: "ne", ast.Lt: "lt", ast.Gt: "gt", ast.LtE: "le", ast.GtE: "ge",
    ast.UAdd: "pos", ast.USub: "neg", ast.Invert: "invert",
}  # fmt: skip
"""Operator in the text → the function of `operator` that it is printed for."""


@dataclass
class _Graph:
    """One graph, while its lines are read."""

    name: str
    indent: int
    """Of the line that its class begins with."""
    order: "list[ReadNode]" = field(default_factory=list)
    nodes: "dict[str, ReadNode]" = field(default_factory=dict)
    """The same by name."""
    where: Location | None = None
    """The line that the last comment names."""
    is_unpacked: bool = False

    def add(self, node: "ReadNode") -> None:
        """Add the next node."""
        self.order.append(node)
        self.nodes[node.name] = node


@dataclass
class ReadNode:
    """One node, before its users are known."""

    name: str
    op: str
    target: str
    inputs: dict[str, None] = field(default_factory=dict)
    arguments: str = ""
    values: tuple[Tensor, ...] = ()
    where: Location | None = None
    module: str = ""
    module_type: str = ""


def nodes_of(graph: str, stage: str, text: str) -> list[Node]:
    """The nodes in a printed graph and in the graphs nested in it, whose rows have their path after `graph`."""
    found: list[_Graph] = []
    enclosing: list[_Graph] = []
    for line in _statements(text):
        if (head := _CLASS.match(line)) is not None:
            while enclosing and enclosing[-1].indent >= len(head[1]):
                enclosing.pop()
            if len(enclosing) <= _DEEPEST:
                name = f"{enclosing[-1].name}/{head[2]}" if enclosing else graph
                enclosing.append(_Graph(name, len(head[1])))
                found.append(enclosing[-1])
        elif enclosing:
            _read(enclosing[-1], line.strip())
    return [node for one in found for node in numbered(one.name, stage, one.order)]


def _statements(text: str) -> Iterator[str]:
    """The lines of a text; what is printed on several lines as one."""
    begun: list[str] = []
    for number, line in enumerate(text.split("\n")):
        if number >= MOST_LINES:
            return
        stripped = line.strip()
        if begun:
            begun.append(line.partition("  # ")[0])
            if stripped.startswith((")", "]")):
                yield "\n".join(begun)
                begun = []
        elif stripped.endswith(("(", "[")) and stripped.startswith((_HEAD, "return ")):
            begun.append(line)
        else:
            yield line


def _read(graph: _Graph, line: str) -> None:
    if not line or len(line) > _LONGEST_LINE:
        return
    if line.startswith("#"):
        if "File: " in line or "No stacktrace" in line:
            graph.where = _location(line)
        return
    try:
        if line.startswith(_HEAD):
            [function] = ast.parse(f"{line}\n    pass").body
            if isinstance(function, ast.FunctionDef):
                _placeholders(graph, function)
        elif line.startswith("return"):
            [function] = ast.parse(f"def forward():\n {line}").body
            if isinstance(function, ast.FunctionDef) and isinstance(function.body[0], ast.Return):
                _output(graph, function.body[0].value)
        else:
            _statement(graph, ast.parse(line).body)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return  # torn, or an argument that torch prints as no Python


def _location(comment: str) -> Location | None:
    """`# File: net.py:4 in forward, code: return x`."""
    place, _, code = comment.partition("File: ")[2].partition(", code: ")
    place, _, function = place.rpartition(" in ")
    file, _, line = place.rpartition(":")
    return Location(file, int(line), function, code) if file and line.isdecimal() and len(line) < 10 else None


def _placeholders(graph: _Graph, function: ast.FunctionDef) -> None:
    for each in function.args.args[1:]:
        graph.add(ReadNode(each.arg, "placeholder", each.arg, values=_tensors(each.annotation)))


def _statement(graph: _Graph, statements: list[ast.stmt]) -> None:
    match statements:
        case [ast.AnnAssign(value=None), *_]:  # the inputs of a graph that is printed with what they are
            for statement in statements:
                if isinstance(statement, ast.AnnAssign) and isinstance(statement.target, ast.Name):
                    name = statement.target.id
                    graph.add(ReadNode(name, "placeholder", name, values=_tensors(statement.annotation)))
        case [
            ast.Assign(targets=[ast.Tuple(elts=names)], value=ast.Call(func=function, args=[ast.List(elts=packed), *_]))
        ] if dotted(function) == _FLATTEN:
            _unpacked(graph, [dotted(name) for name in names], [dotted(name) for name in packed])
        case [ast.AugAssign(op=operator, target=target, value=value), ast.Assign() | ast.AnnAssign() as bound, *_]:
            _add(graph, bound, f"operator.i{_OPERATORS[type(operator)].rstrip('_')}", [target, value])
        case [
            ast.Assign(targets=[ast.Subscript(value=of, slice=index)], value=value),
            ast.Assign() | ast.AnnAssign() as bound,
            *_,
        ]:
            _add(graph, bound, "operator.setitem", [of, index, value])
        case [ast.Assign(targets=[ast.Name(id=name)], value=ast.Name(id=other))] if _is_input(graph, other):
            node = graph.nodes.pop(other)
            node.name = name
            graph.nodes[name] = node
        case [ast.Assign(targets=[ast.Name()], value=value) as bound, *_]:
            _called(graph, bound, value)
        case [ast.AnnAssign(target=ast.Name(), value=ast.expr() as value) as bound, *_]:
            _called(graph, bound, value)


def _is_input(graph: _Graph, name: str) -> bool:
    return name in graph.nodes and graph.nodes[name].op == "placeholder" and graph.nodes[name].name == name


def _unpacked(graph: _Graph, names: list[str], packed: list[str]) -> None:
    """The arguments of the function are trees of the graph's inputs: the first line of all says which."""
    if graph.is_unpacked:
        return
    graph.is_unpacked = True
    trees = set(packed).difference(names)
    graph.order = [node for node in graph.order if node.name not in trees]
    graph.nodes = {node.name: node for node in graph.order}
    for name in names:
        if name not in graph.nodes:
            graph.add(ReadNode(name, "placeholder", name))


def _called(graph: _Graph, bound: ast.Assign | ast.AnnAssign, value: ast.expr) -> None:
    """A statement that binds a node's name to its call."""
    match value:
        case ast.Constant(value=None):
            return  # a name that is let go of
        case ast.Call(func=function, args=args, keywords=words):
            root = dotted(function).partition(".")[0]
            if isinstance(function, ast.Attribute) and not (root and root not in graph.nodes):
                _add(graph, bound, function.attr, [function.value, *args], words, op="call_method")
            elif root == "self":
                _add(graph, bound, dotted(function).removeprefix("self."), args, words, op="call_module")
            else:
                _add(graph, bound, _target(dotted(function) or ast.unparse(function)), args, words)
        case ast.BinOp(left=left, op=operator, right=right):
            _add(graph, bound, f"operator.{_OPERATORS[type(operator)]}", [left, right])
        case ast.Compare(left=left, ops=[comparison], comparators=[right]) if type(comparison) in _OPERATORS:
            _add(graph, bound, f"operator.{_OPERATORS[type(comparison)]}", [left, right])
        case ast.UnaryOp(op=sign, operand=operand) if type(sign) in _OPERATORS:
            _add(graph, bound, f"operator.{_OPERATORS[type(sign)]}", [operand])
        case ast.Subscript(value=of, slice=index):
            _add(graph, bound, "operator.getitem", [of, index])
        case ast.Attribute():
            path = ast.unparse(value)
            if path.startswith("self."):
                _add(graph, bound, path.removeprefix("self."), [], op="get_attr")
            else:
                _add(graph, bound, "builtins.getattr", [value.value, ast.Constant(value.attr)])


def _target(name: str) -> str:
    return name.removeprefix("torch.ops.").removeprefix("higher_order.")


def _add(
    graph: _Graph,
    bound: ast.Assign | ast.AnnAssign,
    target: str,
    args: list[ast.expr],
    words: list[ast.keyword] | None = None,
    op: str = "call_function",
) -> None:
    bound_to = bound.target if isinstance(bound, ast.AnnAssign) else bound.targets[0]
    if not isinstance(bound_to, ast.Name):
        return
    annotation = bound.annotation if isinstance(bound, ast.AnnAssign) else None
    inputs: dict[str, None] = {}
    texts = [_argument(argument, graph, inputs) for argument in args]
    texts += [f"{word.arg}={_argument(word.value, graph, inputs)}" for word in words or ()]
    graph.add(ReadNode(bound_to.id, op, target, inputs, ", ".join(texts), _tensors(annotation), graph.where))


def _output(graph: _Graph, value: ast.expr | None) -> None:
    if isinstance(value, ast.Call) and value.args:  # pytree.tree_unflatten([…], self._out_spec)
        value = value.args[0]
    inputs: dict[str, None] = {}
    text = _argument(value, graph, inputs) if value is not None else "None"
    values = tuple(tensor for name in _returned(value) if name in graph.nodes for tensor in graph.nodes[name].values)
    graph.add(ReadNode("output", "output", "output", inputs, text, values))


def _returned(value: ast.expr | None) -> Iterator[str]:
    if isinstance(value, (ast.Tuple, ast.List)):
        for element in value.elts:
            yield from _returned(element)
    elif isinstance(value, ast.Name):
        yield value.id


def _argument(value: ast.expr, graph: _Graph, inputs: dict[str, None]) -> str:
    """One argument as text, nodes as `%name`; the nodes in it are added to `inputs`."""
    match value:
        case ast.Name(id=name) if name in graph.nodes:
            inputs[name] = None
            return f"%{name}"
        case ast.Constant(value=constant):
            return repr(constant)
        case ast.Tuple(elts=elements) | ast.List(elts=elements):
            inner = ", ".join([_argument(element, graph, inputs) for element in elements])
            return f"[{inner}]" if isinstance(value, ast.List) else f"({inner})"
        case ast.Dict(keys=keys, values=values):
            pairs = zip(keys, values, strict=True)
            texts = [f"{_key(key)}: {_argument(each, graph, inputs)}" for key, each in pairs]
            return "{" + ", ".join(texts) + "}"
        case ast.Call(func=ast.Name(id="slice"), args=bounds):
            return ":".join([_argument(bound, graph, inputs) for bound in bounds])
        case ast.Call(func=ast.Name(id="device"), keywords=words):
            return ":".join(str(word.value.value) for word in words if isinstance(word.value, ast.Constant))
    names = (part.id for part in ast.walk(value) if isinstance(part, ast.Name))
    inputs.update((name, None) for name in names if name in graph.nodes)
    return (dotted(value) or ast.unparse(value))[:_LONGEST_ARGUMENT]


def _key(key: ast.expr | None) -> str:
    return str(key.value) if isinstance(key, ast.Constant) else "**" if key is None else ast.unparse(key)


def _tensors(annotation: ast.expr | None) -> tuple[Tensor, ...]:
    """`f32[8, s0][s0, 1]cuda:0`, of torch's subclasses with their name around it; nothing for a number."""
    if not isinstance(annotation, ast.Constant) or not isinstance(annotation.value, str):
        return ()
    return _tensor(annotation.value)


@functools.lru_cache(1024)  # a graph has few that differ
def _tensor(text: str) -> tuple[Tensor, ...]:
    kind = next((found for found in _TYPE.finditer(text) if found[1] in ABBREVIATED), None)
    if kind is None:
        return ()
    dtype = ABBREVIATED[kind[1]]
    size, rest = _dimensions(text[kind.end() :])
    stride, rest = _dimensions(rest[1:]) if rest.startswith("[") else ((), rest)
    return (
        Tensor(
            dtype=dtype,
            size=size,
            stride=stride,
            device=rest if _DEVICE.fullmatch(rest) else "",
            bytes=product([ITEM_BYTES[dtype], *(length if isinstance(length, int) else None for length in size)]),
        ),
    )


def _dimensions(text: str) -> tuple[tuple[int | str, ...], str]:
    """The lengths up to the closing bracket, and what comes after it."""
    inside, _, rest = text.partition("]")
    return tuple(_length(length) for length in split_arguments(inside)), rest


def _length(text: str) -> int | str:
    return int(text) if text.isascii() and text.isdecimal() and len(text) < 19 else text


def numbered(graph: str, stage: str, read: Sequence[ReadNode]) -> Iterator[Node]:
    """The nodes in the order of the graph, each with those that use it."""
    users: dict[str, list[str]] = {}
    for node in read:
        for name in node.inputs:
            users.setdefault(name, []).append(node.name)
    for index, node in enumerate(read):
        yield Node(
            graph=graph,
            stage=stage,
            index=index,
            name=node.name,
            op=node.op,
            target=node.target,
            inputs=tuple(node.inputs),
            arguments=node.arguments,
            users=tuple(users.get(node.name, ())),
            values=node.values,
            where=node.where,
            module=node.module,
            module_type=node.module_type,
        )
