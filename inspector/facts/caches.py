"""The caches that torch keeps compiled graphs in: what was looked up, and the keys."""

from typing import ClassVar

import msgspec

from inspect_compile.facts.base import Fact
from inspect_compile.facts.frontend import DynamoFact


class CacheLookup(DynamoFact, frozen=True, kw_only=True, tag="cache"):
    """One lookup in torch's FX-graph or AOTAutograd cache, or in vLLM's of compiled models.

    `graph` holds the compile id.
    """

    cache: str
    """`fx_graph`, `aot_autograd`, `vllm`."""
    outcome: str
    """`hit`, `miss`, `bypass` (torch could not use it), `passed over` (we made it miss, so that there is a lowering to
    watch), `failed` (what lay there could not be loaded: vLLM compiles the model again).
    """
    reason: str | None = None
    """Of a `bypass`: torch's; of a `failed` one the exception, where it was seen; with `--cache auto` when the facts of
    a `hit` were recorded, and why what was `passed over` or missed could not be served.
    """
    stored: bool | None = None
    """Where it was `passed over`: whether something lay under the key, which torch could have taken if its guards hold
    here; None where that is not known (a remote cache).
    """
    key: str = ""
    """Of the look-up, where torch made one."""
    components: dict[str, str] = {}
    """What that key is made of, name → check sum: two keys differ where these do. Torch tells those of the AOTAutograd
    cache only when it logs them.
    """


class KernelLookup(DynamoFact, frozen=True, kw_only=True, tag="kernel_cache"):
    """One lookup in a cache of compiled kernels, in the program's own process: those of torch's compile workers are not
    seen.

    `graph` holds the compile id.
    """

    cache: str
    """`cpp` (torch's cache of C++ kernels), `triton` (Triton's own), `autotune` (which configuration of a Triton kernel
    was the fastest).
    """
    kernel: str
    """The kernel."""
    outcome: str
    """`hit`, `miss`."""
    key: str = ""
    """Of the look-up; empty for `autotune`, which is looked up by the file of the source."""
    components: dict[str, str] = {}
    """The parts of the key: name → checksum. Two keys differ if any of these do."""


class KeyMember(msgspec.Struct, frozen=True, gc=False):
    """One setting, input, argument or line in a part of a key."""

    checksum: str
    """torch's own; of a line of a graph, that of its text."""
    value: str = ""
    """As torch prints it, at most 500 characters; a part of it may change from run to run, as an address does."""


class KeyPart(Fact, frozen=True, kw_only=True, tag="key_part"):
    """A part of a key, written once for all lookups whose `components` have this checksum under this name.

    `graph` is empty.
    """

    table: ClassVar[str] = "keys"
    per_graph: ClassVar[bool] = False

    name: str
    """torch's name: `gm` (the graph), `example_inputs`, `inductor_config`."""
    checksum: str
    """As in `components`."""
    members: dict[str, KeyMember] = {}
    """A setting by its name, an input by its index, a line of a graph's code by its number, a single value by an empty
    name. Of a graph the first 2,000 lines; after 100,000 members of a process only check sums are recorded.
    """
