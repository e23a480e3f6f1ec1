"""Names for torch's record of the collectives that a process has called."""

from typing import Final

from inspect_compile.torch_compat import Name

FLIGHT_RECORDER = Name(
    "torch._C._distributed_c10d",
    "_dump_fr_trace",
    "2.11-2.15",
    "the last collectives of a process, with their sizes and the Python frames that called them",
)
OF_NCCL: Final = "_dump_nccl_trace"
"""The same for NCCL, in builds of torch that have it."""
