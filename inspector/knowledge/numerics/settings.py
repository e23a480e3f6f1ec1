"""Settings that change what a compiled graph computes, each with what it rules out if nothing is wrong with it."""

from collections.abc import Mapping
from typing import Any, Final, NamedTuple

from inspect_compile.knowledge.versions import release


class Setting(NamedTuple):
    """Settings that are tried together. Names of `torch._inductor.config`, or such as begin with `torch.backends.`."""

    config: Mapping[str, Any]
    about: str
    """What is suspected."""
    device: str = ""
    """The kind of device whose kernels it changes; empty for any."""
    since: str = ""
    """The first torch that has it; empty if all that are supported do."""
    is_default: bool = False
    """It is so by default: tried only where the recording had one of them otherwise."""

    def literals(self) -> dict[str, str]:
        """The settings with values as Python writes them, as run.json has them."""
        return {name: repr(value) for name, value in self.config.items()}


SETTINGS: Final[tuple[Setting, ...]] = (
    Setting({"emulate_precision_casts": True}, "casts to half precision that fusion leaves out"),
    Setting({"numerics": "strict"}, "every setting with which torch computes differently from eager", since="2.15"),
    Setting({"eager_numerics.division_rounding": True}, "approximate division", device="cuda"),
    Setting({"eager_numerics.disable_ftz": True}, "denormal numbers flushed to zero", device="cuda"),
    Setting({"eager_numerics.use_pytorch_libdevice": True}, "Triton's exp, erf and pow", device="cuda"),
    Setting(
        {"torch.backends.cuda.matmul.allow_tf32": False, "torch.backends.cudnn.allow_tf32": False},
        "TF32 in matmuls and convolutions",
        device="cuda",
    ),
    Setting(
        {
            "torch.backends.cuda.matmul.allow_fp16_reduced_precision_reduction": False,
            "torch.backends.cuda.matmul.allow_bf16_reduced_precision_reduction": False,
        },
        "sums of matmuls in half precision",
        device="cuda",
    ),
    Setting({"cpp.simdlen": 1}, "vectorized C++ code", device="cpu"),
    Setting(
        {"cpp.enable_unsafe_math_opt_flag": False, "cpp.enable_floating_point_contract_flag": "off"},
        "the C++ compiler's arithmetic: -funsafe-math-optimizations, -ffp-contract",
        device="cpu",
        is_default=True,
    ),
    Setting({"use_fast_math": False}, "the compiler's fast arithmetic", is_default=True),
    Setting({"pattern_matcher": False}, "torch's patterns that replace nodes"),
    Setting({"max_fusion_size": 1}, "fusion"),
    Setting({"inplace_buffers": False, "allow_buffer_reuse": False}, "memory that is reused"),
    Setting({"split_reductions": False}, "reductions in several stages", device="cuda"),
    Setting({"triton.persistent_reductions": False}, "reductions in one block", device="cuda"),
    Setting({"deterministic": True}, "autotuned configurations and block sizes", device="cuda"),
)
"""In the order in which they are tried."""


def not_tried(setting: Setting, device: str, torch: str, recorded: str) -> str:
    """Why the setting would change nothing; empty if it may.

    `device` and `torch`, a version, are those of the recorded compile; `recorded` is the text with its settings.
    """
    if setting.device and setting.device not in device:
        return "not on this device"
    if setting.since and release(torch) < release(setting.since):
        return f"torch {setting.since} and later have it"
    if setting.is_default and not any(f"config.{name} =" in recorded for name in setting.config):
        return "it was already set"
    return ""
