"""The roof of a dump: bandwidth and peaks of the device that its kernels are for."""

import re
from typing import Final

import msgspec

from inspect_compile.dump import Dump
from inspect_compile.knowledge.targets.devices import device_named
from inspect_compile.knowledge.targets.host import Host, host
from inspect_compile.knowledge.targets.targets import TARGETS, Target

LAUNCH_SECONDS: Final = 2e-6
"""Time of an empty kernel on a GPU. docs/cost.md gives the source."""
_RECORDED: Final = re.compile(r"cuda \((?P<name>.*), (?P<architecture>\w+)\)")
_SHORT: Final = {"uint8": "int8", "bool": "int8"}


class Roof(msgspec.Struct, frozen=True):
    """One device."""

    name: str
    source: str
    bandwidth: float
    """Bytes per second."""
    peak: dict[str, float]
    """dtype → FLOP/s of matmuls."""
    vector: dict[str, float]
    """dtype → scalar operations per second; a fused multiply-add counts as two."""
    launch_seconds: float = 0.0
    """A kernel whose bound is below this is bound by its launch; 0 if there is no such time."""
    is_measured: bool = False
    """True if the figures were measured here instead of taken from a data sheet."""

    def peak_of(self, dtype: str, *, may_round: bool) -> str:
        """The peak that applies to a matmul of `dtype`; `may_round`: float32 may become tf32."""
        if dtype == "float32" and may_round and "tf32" in self.peak:
            return "tf32"
        wanted = "float8" if dtype.startswith("float8") else _SHORT.get(dtype, dtype)
        if wanted in self.peak:
            return wanted
        return "float16" if wanted == "bfloat16" and "float16" in self.peak else "float32"

    def vector_of(self, dtype: str) -> str:
        """The peak that applies to scalar operations: types narrower than float32 are computed in float32."""
        return dtype if dtype in self.vector else "float32"


def roof_of(dump: Dump) -> Roof | None:
    """The roof of the dump's device, or target; None for a GPU without figures, or a CPU that was not measured."""
    if (target := gpu_of(dump)) is not None:
        return of_target(target)
    measured = host() if dump.run.device == "cpu" else None
    return None if measured is None else of_host(measured)


def gpu_of(dump: Dump) -> Target | None:
    """The GPU that the dump was compiled for or recorded on: the H200 for `cuda (NVIDIA H200, sm_90)`.

    A GPU without figures gets those of its architecture; None for a CPU, and if nothing is known.
    """
    found = _RECORDED.fullmatch(dump.run.device)
    recorded = None if found is None else device_named(found["name"]) or TARGETS.get(found["architecture"])
    return TARGETS.get(dump.run.target) or recorded


def of_target(target: Target) -> Roof:
    """The roof of a GPU."""
    return Roof(target.gpu, target.source, target.bandwidth, target.peak, _vector(target.peak), LAUNCH_SECONDS)


def of_host(measured: Host) -> Roof:
    """The roof of the CPU of this machine."""
    source = f"measured here on {measured.date} with {measured.threads} threads"
    return Roof(measured.cpu, source, measured.bandwidth, measured.peak, _vector(measured.peak), is_measured=True)


def _vector(peak: dict[str, float]) -> dict[str, float]:
    return {dtype: peak[dtype] for dtype in ("float64", "float32") if dtype in peak}
