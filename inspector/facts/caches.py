"""The caches that torch keeps compiled graphs in: what was looked up, and the keys."""

from typing import ClassVar

import msgspec

from inspect_compile.facts.base import Fact
from inspect_compile.facts.frontend import DynamoFact


class CacheLookup(DynamoFact, frozen=True, kw_only=True, tag="cache"):
    """One lookup in torch's FX-graph or AOTAutograd cache."""

    cache: str
    outcome: str
    """hit, miss, bypass (torch could not use the cache) or passed over.

    Passed over: the lookup was made to miss, so that there is a lowering to watch.
    """
    reason: str | None = None
    """Why torch could not use the cache; with `--cache auto` when the facts of a hit were recorded, or why nothing that
    is kept was used.
    """
    stored: bool | None = None
    """Where it was passed over: is there something that torch could have taken? None where that is not known."""
    key: str = ""
    components: dict[str, str] = {}
    """The parts of the key: name → checksum. Two keys differ if any of these do."""


class KernelLookup(DynamoFact, frozen=True, kw_only=True, tag="kernel_cache"):
    """One lookup in a cache of compiled kernels; `graph` is the compile id."""

    cache: str
    """cpp (torch's cache of C++ kernels), triton (Triton's own) or autotune (which configuration was the fastest)."""
    kernel: str
    outcome: str
    """hit or miss."""
    key: str = ""
    components: dict[str, str] = {}
    """The parts of the key: name → checksum. Two keys differ if any of these do."""


class KeyMember(msgspec.Struct, frozen=True, gc=False):
    """One setting, input, argument or line in a part of a key."""

    checksum: str
    """torch's own; of a line of a graph, one of its text."""
    value: str = ""
    """The value as torch prints it, shortened; a part of it may change from run to run, as an address does."""


class KeyPart(Fact, frozen=True, kw_only=True, tag="key_part"):
    """A part of a key, told once for all lookups whose `components` have this checksum under this name."""

    table: ClassVar[str] = "keys"
    per_graph: ClassVar[bool] = False

    name: str
    checksum: str
    members: dict[str, KeyMember] = {}
    """`max_autotune` → what it was set to; by index for a list, by line for the text of a graph, "" for a single value.
    """
