"""The base class of all facts, and the pieces that several stages share."""

from collections.abc import Iterator
from typing import Annotated, ClassVar

import msgspec

Int64 = Annotated[int, msgspec.Meta(ge=-(2**63), le=2**63 - 1)]
"""An integer in a fact: a larger one can only be damage, and would overflow in arithmetic or take too long to print."""


class Fact(msgspec.Struct, frozen=True, kw_only=True, gc=False, tag_field="fact", tag=str.lower):
    """One thing that the compiler did, as plain values.

    `table` names the `.jsonl` file that the fact goes to; `per_graph` says whether that file is in the graph's folder
    or at the top of the dump.
    """

    table: ClassVar[str]
    per_graph: ClassVar[bool] = True

    graph: str = ""
    """`model__0_forward_1.0`; for a nested graph `model__0_forward_1.0/true_graph_0`.

    For Dynamo's facts the compile id `0/0`.
    """


class Location(msgspec.Struct, frozen=True, gc=False, omit_defaults=True):
    """A line of the program, as the compiler recorded it, and the calls that led to it."""

    file: str
    line: Int64
    function: str = ""
    code: str = ""
    site: Int64 = 0
    """The `CallSite` of the innermost call, which may be in a function of torch's that this line calls; 0 if unknown.
    """
    caller: "Location | None" = None
    """The line that called this one's function, with its own caller: filled in when a dump is read, from `site`."""
    module: str = ""
    """Path of the nn.Module in which an operator on a line of a library ran, `layers.0.attention`; empty for others."""

    def calls(self) -> "Iterator[Location]":
        """The line, what called it, and so on."""
        one: Location | None = self
        while one is not None:
            yield one
            one = one.caller


class Tensor(msgspec.Struct, frozen=True, gc=False):
    """What is known of a tensor without its values.

    Symbolic sizes and strides are texts; strides count elements.
    """

    dtype: str
    size: tuple[Int64 | str, ...]
    stride: tuple[Int64 | str, ...] = ()
    device: str = ""
    bytes: Int64 | None = None
    """Size of the contents, with symbols at their hints; None if a size has no hint."""
