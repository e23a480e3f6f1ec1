"""Rebuilds the FX graph from the text of its `forward`: the same nodes under the same names.

Tracing the function instead would run nodes without inputs among their arguments, and rename nodes.
"""

import ast
import operator
from typing import Any, Final

import torch
from torch.fx import Graph, GraphModule, Node

from inspect_compile.lowering.intervention.replay.runnable import Body, RefusedError, names_in

_BINARY: Final[dict[type[ast.AST], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.FloorDiv: operator.floordiv,
    ast.Div: operator.truediv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.MatMult: operator.matmul,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.Gt: operator.gt,
    ast.LtE: operator.le,
    ast.GtE: operator.ge,
    ast.UAdd: operator.pos,
    ast.USub: operator.neg,
    ast.Invert: operator.invert,
}
"""How FX prints calls of these functions."""


def graph_module(body: Body, owner: torch.nn.Module, namespace: dict[str, Any]) -> GraphModule:
    """The graph and its subgraphs; `owner` has its constants, `namespace` the names that its text may use."""
    children = {
        name: graph_module(child, getattr(owner, name, None) or torch.nn.Module(), namespace)
        for name, child in body.children.items()
    }
    for name, child in children.items():
        setattr(owner, name, child)
    return GraphModule(owner, _Builder(owner, namespace).built(body.function))


class _Builder:
    def __init__(self, owner: torch.nn.Module, namespace: dict[str, Any]) -> None:
        self._owner = owner
        self._namespace = namespace
        self._nodes: dict[str, Node] = {}
        self._graph = Graph()

    def built(self, function: ast.FunctionDef) -> Graph:
        for argument in function.args.args[1:]:
            self._nodes[argument.arg] = self._graph.placeholder(argument.arg)
        for statement in function.body:
            self._statement(statement)
        return self._graph

    def _statement(self, statement: ast.stmt) -> None:
        match statement:
            case ast.Return(value=value):
                self._graph.output(None if value is None else self._value(value))
            case ast.Assign(targets=[ast.Name(id=name), *_], value=value) if ast.unparse(value) != "None":
                self._nodes[name] = self._node(name, value)
            case ast.AnnAssign(target=ast.Name(id=name), value=ast.expr() as value):
                self._nodes[name] = self._node(name, value)
            case ast.Assign() | ast.Pass() | ast.Expr(value=ast.Constant()):
                return  # `x = None` frees
            case _:
                raise RefusedError(f"line {statement.lineno} of the graph is not known: {_short(statement)}")

    def _node(self, name: str, value: ast.expr) -> Node:
        match value:
            case ast.Call(func=ast.Attribute(value=ast.Name(id=owner), attr=method)) if owner in self._nodes:
                return self._create("call_method", method, name, [value.func.value, *value.args], value.keywords)  # type: ignore[attr-defined]
            case ast.Call(func=called):
                return self._create("call_function", self._target(called), name, value.args, value.keywords)
            case ast.Attribute(value=ast.Name(id="self"), attr=attribute):
                return self._attribute(attribute, name)
            case ast.Attribute(value=owner, attr=attribute):
                return self._graph.create_node("call_function", getattr, (self._value(owner), attribute), name=name)
            case ast.Subscript(value=owner, slice=index):
                return self._create("call_function", operator.getitem, name, [owner, index])
            case ast.BinOp(left=left, op=op, right=right):
                return self._create("call_function", _BINARY[type(op)], name, [left, right])
            case ast.Compare(left=left, ops=[op], comparators=[right]) if type(op) in _BINARY:
                return self._create("call_function", _BINARY[type(op)], name, [left, right])
            case ast.UnaryOp(op=op, operand=operand) if type(op) in _BINARY:
                return self._create("call_function", _BINARY[type(op)], name, [operand])
        raise RefusedError(f"line {value.lineno} of the graph is not known: {name} = {_short(value)}")

    def _create(
        self, op: str, target: Any, name: str, values: list[ast.expr], keywords: list[ast.keyword] | None = None
    ) -> Node:
        arguments = tuple(self._value(value) for value in values)
        named = {keyword.arg or "": self._value(keyword.value) for keyword in keywords or ()}
        return self._graph.create_node(op, target, arguments, named, name=name)

    def _attribute(self, attribute: str, name: str) -> Node:
        if not hasattr(self._owner, attribute):
            raise RefusedError(f"the graph reads {attribute}, whose value is not in the dump")
        return self._graph.create_node("get_attr", attribute, name=name)

    def _target(self, called: ast.expr) -> Any:
        try:
            return self._constant(called)
        except (AttributeError, NameError):
            raise RefusedError(
                f"the graph calls {ast.unparse(called)}, which is not there without the program that defines it"
            ) from None

    def _value(self, value: ast.expr) -> Any:
        match value:
            case ast.Constant(value=constant):
                return constant
            case ast.Name(id=name) if name in self._nodes:
                return self._nodes[name]
            case ast.Tuple(elts=items):
                return tuple(self._value(item) for item in items)
            case ast.List(elts=items):
                return [self._value(item) for item in items]
            case ast.Dict(keys=keys, values=values):
                return {
                    None if key is None else self._value(key): self._value(item)
                    for key, item in zip(keys, values, strict=True)
                }
            case ast.Call(func=ast.Name(id="slice"), args=ends):
                return slice(*(self._value(end) for end in ends))
            case ast.Slice(lower=lower, upper=upper, step=step):
                return slice(*(None if end is None else self._value(end) for end in (lower, upper, step)))
        if not self._nodes.keys().isdisjoint(names_in(value)):
            raise RefusedError(f"line {value.lineno} of the graph is not known: {_short(value)}")
        try:
            return self._constant(value)
        except (AttributeError, NameError) as error:
            raise RefusedError(f"the graph names {_short(value)}, which is not there ({error})") from None

    def _constant(self, value: ast.expr) -> Any:
        return eval(compile(ast.Expression(value), "<graph>", "eval"), self._namespace)


def _short(tree: ast.AST) -> str:
    text = ast.unparse(tree)
    return text if len(text) < 80 else f"{text[:79]}…"
