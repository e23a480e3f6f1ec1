"""Process groups for a graph with collectives: torch's fake ones, of the sizes and under the names in its text."""

import ast
import contextlib
import re
from collections.abc import Iterator
from typing import Final

from inspect_compile.lowering.intervention.replay.runnable import Body, Runnable
from inspect_compile.torch_compat import runtime as names

_COLLECTIVE: Final = re.compile(r"torch\.ops\._?c10d_functional(?:_autograd)?\.(\w+)")
_WORLD: Final = re.compile(r"\bworld_size=(\d{1,7})\b")
_LEAST: Final = 2
"""Ranks of a group whose size the text does not say: of one rank torch would compile no collective."""


def make_groups(recorded: Runnable) -> None:
    """Make the groups that the graph's collectives name, if it has any; this process is rank 0 of each."""
    groups = dict(_groups(recorded.body))
    if not groups:
        return
    import torch.distributed as dist

    written = _WORLD.search(recorded.source)
    size = max(*groups.values(), int(written[1]) if written else _LEAST, _LEAST)
    if not dist.is_initialized():
        dist.init_process_group(backend="fake", rank=0, world_size=size, store=names.FAKE_STORE.load()())
    made = {
        name: dist.group.WORLD if own in (0, size) else dist.new_group(ranks=list(range(own)))
        for name, own in groups.items()
    }
    for name, group in made.items():
        with contextlib.suppress(RuntimeError):  # torch has named one of its own so
            names.UNREGISTER_GROUP.load()(name)
        names.REGISTER_GROUP.load()(name, group)


def _groups(body: Body) -> Iterator[tuple[str, int]]:
    """Name and size of each group, 0 where a collective does not say its size; the largest last."""
    sizes: dict[str, int] = {}
    for node in ast.walk(body.function):
        if isinstance(node, ast.Call) and _COLLECTIVE.match(ast.unparse(node.func)):
            values = [
                item.value
                for item in (*node.args, *(keyword.value for keyword in node.keywords))
                if isinstance(item, ast.Constant)
            ]
            texts = [value for value in values if isinstance(value, str)]
            numbers = [value for value in values if type(value) is int]
            if texts:
                sizes[texts[-1]] = max(sizes.get(texts[-1], 0), *numbers, 0)
    yield from sizes.items()
    for child in body.children.values():
        yield from _groups(child)
