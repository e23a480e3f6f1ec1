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
    """A line of the program, its own or one of a library that it calls, and the calls that led to it.

    What is empty is left out of the file.
    """

    file: str
    """The file."""
    line: Int64
    """The line in it."""
    function: str = ""
    """The function that the line is in."""
    code: str = ""
    """The line's text, where it could be read."""
    site: Int64 = 0
    """The number of the call site of the innermost call, which may be in a function of torch's that this line calls
    (`call_site`); 0 if unknown.
    """
    caller: "Location | None" = None
    """The location that called this one's function, with its own caller: filled in from `site` when a dump is read, and
    not in the file, but in what commands print.
    """
    module: str = ""
    """Of an operator on a line of a library, the path of the nn.Module that ran it, `layers.0.attention`."""

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
    """torch's name of it: `float32`."""
    size: tuple[Int64 | str, ...]
    """The length of each dimension; a text where it is symbolic."""
    stride: tuple[Int64 | str, ...] = ()
    """The stride of each, likewise."""
    device: str = ""
    """Where it is."""
    bytes: Int64 | None = None
    """Bytes of its contents, symbols at their hints; None where there is no hint."""
