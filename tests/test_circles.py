"""No two modules of the product import each other, neither when they are loaded, nor later, nor by a text."""

import ast
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = {
    "inspect_compile": "inspector",
    "inspect_compile.lowering": "lowering",
    "inspect_compile.codegen": "codegen",
    "inspect_compile.tui": "tui",
}


def modules() -> Iterator[tuple[str, ast.Module]]:
    for package, folder in ROOMS.items():
        for path in sorted((ROOT / folder).rglob("*.py")):
            parts = [package, *path.relative_to(ROOT / folder).with_suffix("").parts]
            yield ".".join(parts).removesuffix(".__init__"), ast.parse(path.read_text(encoding="utf-8"))


def named(tree: ast.AST) -> Iterator[str]:
    """What a module imports, as far as its text tells: module, `module.name`, and `module:name` in a text.

    What only type checkers import brings nothing in.
    """
    pending = [tree]
    while pending:
        node = pending.pop()
        match node:
            case ast.If(test=ast.Name(id="TYPE_CHECKING")):
                pending += node.orelse
                continue
            case ast.ImportFrom(module=str(module), names=names):
                yield from (f"{module}.{alias.name}" for alias in names)
            case ast.Import(names=names):
                yield from (alias.name for alias in names)
            case ast.Constant(value=str(text)) if text.startswith("inspect_compile."):
                module, _, name = text.partition(":")
                yield f"{module}.{name}"
        pending += ast.iter_child_nodes(node)


def imported(known: set[str], tree: ast.AST) -> set[str]:
    """Those of our modules that it imports; of a name in one that one."""
    return {name if name in known else name.rpartition(".")[0] for name in named(tree)} & known


def test_no_two_modules_import_each_other() -> None:
    trees = dict(modules())
    graph = {name: imported(set(trees), tree) - {name} for name, tree in trees.items()}
    assert len(graph) > 300
    assert sum(map(len, graph.values())) > 1000
    assert {tuple(sorted((one, other))) for one in graph for other in graph[one] if one in graph[other]} == set()


def test_all_ways_to_import_are_seen() -> None:
    text = """
import a
from a import b
from c import d
def later():
    import e
if TYPE_CHECKING:
    import f
WHERE = "inspect_compile.g:Class"
"""
    known = {"a", "a.b", "c", "e", "f", "inspect_compile.g"}
    assert imported(known, ast.parse(text)) == {"a", "a.b", "c", "e", "inspect_compile.g"}
