"""Prints the FX graph of a loop body as code: the result of `Graph.python_code`, without its general machinery."""

from typing import Any, Final

_PLAIN: Final = (int, float, bool, type(None))


class _UnknownError(Exception):
    """A node that the fast path cannot print."""


def quick_body(graph: Any, name: str) -> str | None:
    """The function `name` as code; None if the graph holds more than calls of `ops` and of its submodules."""
    if type(graph._codegen).__name__ != "CodeGen":
        return None
    inputs, lines = ["self"], []
    try:
        for node in graph.nodes:
            if node.type is not None or node.kwargs:
                return None
            arguments = [_argument(value) for value in node.args]
            if node.op == "call_method":
                lines.append(f"    {node.name} = {arguments[0]}.{node.target}({', '.join(arguments[1:])})")
            elif node.op == "call_module" and node.target.isidentifier():
                lines.append(f"    {node.name} = self.{node.target}({', '.join(arguments)})")
            elif node.op == "placeholder" and node.target == node.name and not arguments:
                inputs.append(node.name)
            elif node.op == "output":
                lines.append(f"    return {arguments[0]}")
            else:
                return None
    except _UnknownError:
        return None
    return "\n".join([f"def {name}({', '.join(inputs)}):", *lines])


def _argument(value: Any) -> str:
    kind = type(value)
    if kind.__name__ == "Node":
        return str(value.name)
    if kind is str:
        if ";" in value:  # torch would read what follows as a statement
            raise _UnknownError
        return repr(value)
    if kind in _PLAIN or kind.__name__ == "dtype":
        return repr(value)
    if kind is tuple:
        return f"({', '.join([_argument(item) for item in value])}{',' * (len(value) == 1)})"
    if kind is list:
        return f"[{', '.join([_argument(item) for item in value])}]"
    raise _UnknownError
