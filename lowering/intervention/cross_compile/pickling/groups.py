"""The process groups of a rank, for the process that compiles its graphs: torch's fake ones stand in for them there."""

from dataclasses import dataclass
from typing import Any

import torch

from inspect_compile.torch_compat import runtime
from inspect_compile.torch_compat import targets as names


@dataclass(frozen=True)
class Groups:
    """The groups that this rank is in, by torch's names."""

    rank: int
    size: int
    """Number of all ranks."""
    ranks: dict[str, tuple[int, ...]]
    """Name of a group → its ranks, in the order in which they were made, the one of all ranks first."""


def of_program() -> Groups | None:
    """The groups of this process; None if it has none."""
    distributed = torch.distributed
    if not distributed.is_available() or not distributed.is_initialized():
        return None
    world = names.WORLD.load()
    of_groups = {group: tuple(ranks) for group, ranks in world.pg_group_ranks.items() if group in world.pg_names}
    ranks = {world.pg_names[group]: found for group, found in of_groups.items()}
    return Groups(distributed.get_rank(), distributed.get_world_size(), ranks)


def make(groups: Groups) -> None:
    """Make those that this process does not have yet, as the same rank."""
    distributed = torch.distributed
    had = of_program()
    if had is not None and not _agree(had, groups):
        distributed.destroy_process_group()
        had = None
    known = {} if had is None else had.ranks
    name_of, store = names.GROUP_NAME.load(), runtime.FAKE_STORE.load()
    try:
        for name, ranks in groups.ranks.items():
            names.GROUP_NAME.put(lambda *_, name=name, **__: name)
            if not distributed.is_initialized():
                distributed.init_process_group("fake", rank=groups.rank, world_size=groups.size, store=store())
            elif name not in known:
                distributed.new_group(list(ranks))
    finally:
        names.GROUP_NAME.put(name_of)


def _agree(had: Groups, groups: Groups) -> bool:
    """Whether they are of the same rank, and what has the same name is the same group."""
    both = had.ranks.keys() & groups.ranks.keys()
    is_same_rank = (had.rank, had.size) == (groups.rank, groups.size)
    return is_same_rank and all(had.ranks[name] == groups.ranks[name] for name in both)


def reduced(value: Any) -> Any:
    """For pickle's `reducer_override`: a group as its name, and a mesh as one of devices of this process, the CPU;
    NotImplemented for anything else.
    """
    if not torch.distributed.is_available():
        return NotImplemented
    if isinstance(value, torch.distributed.ProcessGroup):
        return _group, (value.group_name,)
    if isinstance(value, names.DEVICE_MESH.load()):
        return _mesh, (type(value), {**value.__getstate__(), "_device_type": "cpu"})
    return NotImplemented


def _group(name: str) -> Any:
    """The group of that name; called by pickle."""
    return names.RESOLVE_GROUP.load()(name)


def _mesh(kind: type, state: dict[str, Any]) -> Any:
    """Make a mesh again; called by pickle."""
    made: Any = object.__new__(kind)
    made.__setstate__(state)
    return made
