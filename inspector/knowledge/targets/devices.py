"""The GPU that a profile names, and its vendor's figures."""

import re
from typing import Final

from msgspec.structs import replace

from inspect_compile.knowledge.targets.targets import GIB, TARGETS, Target

_MORE: Final = (
    replace(
        TARGETS["sm_90"],
        gpu="H200",
        memory=141 * GIB,
        bandwidth=4800e9,
        source="NVIDIA H200 SXM data sheet; else as H100",
    ),
)
"""GPUs of the same architecture as a target, with different figures."""


def device_named(name: str) -> Target | None:
    """The GPU that a profile calls `name`, such as `NVIDIA H200`; None if its figures are not known."""
    words = set(re.split(r"[\s_-]+", name.removesuffix(" PCIe"))) if " PCIe" not in name else set()
    for target in (*_MORE, *TARGETS.values()):
        wanted = target.gpu.partition(" (")[0].split()
        if set(wanted) <= words:
            return target
    return None
