"""Why Inductor makes a value real, in plain words, by the functions that asked.

Source: torch/_inductor/{graph,ir,lowering}.py, torch 2.13.
"""

from collections.abc import Sequence
from typing import Final

REASONS: Final[tuple[tuple[str, str], ...]] = (
    ("make_reduction.<locals>.inner", "the result of a reduction is always real"),
    ("mark_reuse", "used several times, and dear enough to compute once"),
    ("realize_into", "written into another buffer's place"),
    ("copy_input", "the kernel needs a buffer of its own with this layout"),
    ("require_stride_order", "its reader needs this order of strides"),
    ("require_strides", "its reader needs these strides"),
    ("require_exact_strides", "its reader needs exactly these strides"),
    ("require_contiguous", "its reader needs contiguous memory"),
    ("require_channels_last", "its reader needs channels-last memory"),
    ("as_storage_and_layout", "a view needs memory to look at"),
    ("as_strided", "as_strided needs memory to look at"),
    ("realize_input", "input of an extern kernel, or output of the graph"),
    ("process_kernel", "input of a fallback kernel"),
    ("mark_buffer_mutated", "it is written in place"),
    ("mark_mutation", "it is written in place"),
    ("mutate_to", "it is written in place"),
    ("unwrap_storage_for_input", "input of a kernel"),
    ("realize_inputs", "input of an extern kernel"),
    ("create_foreach_pointwise", "one of a foreach operation's tensors"),
    ("concat", "part of a concatenation"),
    ("cat", "part of a concatenation"),
    ("sort", "a sort reads it as a whole"),
    ("scatter", "a scatter reads it as a whole"),
    ("index_put", "an index_put reads it as a whole"),
    ("reduction", "the reduction runs in several steps"),
    ("create_multilayer", "the reduction runs in several steps"),
    ("cond", "operand of a subgraph"),
    ("while_loop", "operand of a subgraph"),
    ("output", "output of the graph"),
    ("placeholder", "an input that is copied"),
    ("constrain_to_fx_strides", "its reader needs the strides that eager has"),
    ("realize_hint", "its users want memory (hint), and it reads enough to be worth it"),
)
"""(function or qualified name, words), the most telling first: the first that stands among the callers wins."""


_OWN: Final = "this node's own result: an output, read by several, or too much to inline"
_PASSING: Final = ("realize", "__getattr__", "inner", "wrapped", "guard", "watch")


def reason_of(chain: Sequence[str]) -> str:
    """The reason for the callers `chain`, innermost first, up to the lowering of the node."""
    names = [name.rsplit(".", 1)[-1] for name in chain]
    if "run_node" in names:
        chain = chain[: names.index("run_node")]
    callers = {*chain, *(name.rsplit(".", 1)[-1] for name in chain)}
    for function, words in REASONS:
        if function in callers:
            return words
    asking = next((name for name in chain if name.rsplit(".", 1)[-1] not in _PASSING), None)
    return _OWN if asking is None else f"{asking.rsplit('.', 1)[-1]} needs it in memory"
