"""The places in torch's sources that say why two nodes are not fused, read without running them."""

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

WHY = ("WhyNoFuse", "WhyNoFuseNames")
LOG = "fusion_log"
NO_REFUSALS = (
    # scheduler.py
    "===== attempting fusion (%d/10): %d nodes =====",
    "completed fusion round (%d/10): fused %d nodes into %d nodes\n",
    "===== fusion complete (%d iterations) =====",
    "can fuse (benchmark): fusing %s with %s cause %sx speedup",
    "can fuse (benchmark): fusing causes %sx speedup",
    "can fuse (assumed): fusing %s with %s (benchmarking skipped)",
    "fusing %s with %s",
    "fuse_nodes_once, candidates:",
    "  %s",
    "found %d possible fusions",
    "Shared memory after inversion: %d",
    "ComboKernel: benchmarking may not accurate due to atomic_add",
    "ComboKernel benchmark: return True because of loop-carried variable",
    "fusion memory simulation ended with %d live bytes; expected %d",
)
"""What the log of fusions says besides."""
UNREADABLE = "a text that is put together in a way that this scanner can't follow"


class Site(NamedTuple):
    """One place that gives a reason."""

    file: str
    line: int
    template: str
    """With `{}` for the holes of an f-string."""


def sites(folder: Path) -> list[Site]:
    """Those of all sources below `folder`, torch/_inductor."""
    found: list[Site] = []
    for path in sorted(folder.rglob("*.py")):
        text = path.read_text(encoding="utf-8")
        if any(name in text for name in (*WHY, LOG)):
            found += sites_of(text, str(path.relative_to(folder)))
    return found


def sites_of(text: str, file: str) -> list[Site]:
    """Those of one source."""
    tree = ast.parse(text)
    scopes = [tree, *(node for node in ast.walk(tree) if isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)))]
    return list(dict.fromkeys(site for scope in scopes for site in _of_scope(scope, file)))


def _of_scope(scope: ast.AST, file: str) -> Iterator[Site]:
    """With the functions in it, which see its names."""
    names = set() if isinstance(scope, ast.Module) else set(_names(scope))
    for node in ast.walk(scope):
        if isinstance(node, ast.Call) and _says(node.func, names):
            text = _template(node.args[0]) if node.args else UNREADABLE
            yield Site(file, node.lineno, text)
        elif isinstance(node, ast.Call) and _is_log(node.func) and not _is_itself(node):
            text = _template(node.args[0]) if node.args else UNREADABLE
            if text not in NO_REFUSALS:
                yield Site(file, node.lineno, text)


def _names(scope: ast.AST) -> Iterator[str]:
    """Variables and parameters that hold a WhyNoFuse."""
    for node in ast.walk(scope):
        match node:
            case ast.Assign(targets=targets, value=value) if _makes(value):
                yield from (ast.unparse(target) for target in targets)
            case ast.AnnAssign(target=target, value=value) | ast.NamedExpr(target=target, value=value) if _makes(value):
                yield ast.unparse(target)
            case ast.arg(arg=name, annotation=annotation) if annotation is not None:
                if any(kind in ast.unparse(annotation) for kind in WHY):
                    yield name


def _makes(value: ast.AST | None) -> bool:
    return isinstance(value, ast.Call) and ast.unparse(value.func).rpartition(".")[2] in WHY


def _says(function: ast.expr, names: set[str]) -> bool:
    return _makes(function) or ast.unparse(function) in names


def _is_log(function: ast.expr) -> bool:
    return (
        isinstance(function, ast.Attribute)
        and ast.unparse(function.value).rpartition(".")[2] == LOG
        and (function.attr in ("debug", "info", "warning", "error", "exception", "log"))
    )


def _is_itself(call: ast.Call) -> bool:
    """`fusion_log.debug(self)` of WhyNoFuse."""
    return bool(call.args) and ast.unparse(call.args[0]) == "self"


def _template(text: ast.expr) -> str:
    match text:
        case ast.Constant(value=str(value)):
            return value
        case ast.JoinedStr(values=values):
            return "".join(str(part.value) if isinstance(part, ast.Constant) else "{}" for part in values)
        case ast.BinOp(left=left, op=ast.Mod()):
            return _template(left)
        case ast.BinOp(left=left, op=ast.Add(), right=right):
            return _template(left) + _template(right)
    return UNREADABLE
