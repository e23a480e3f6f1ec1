"""Library calls for which torch can generate a kernel of its own instead."""

from typing import Final

TEMPLATES: Final = frozenset(
    {
        # torch/_inductor/kernel/{mm,bmm,mm_plus_mm,mm_grouped,conv}.py, on a GPU
        *("mm", "addmm", "bias_addmm", "bmm", "baddbmm", "mm_plus_mm", "_int_mm", "_scaled_mm"),
        *("_grouped_mm", "_scaled_grouped_mm", "convolution"),
        # what the same operators become on a CPU: torch/_inductor/mkldnn_lowerings.py
        *("_linear_pointwise", "_convolution_pointwise", "_mkl_linear"),
    }
)
"""Operators that a template of Inductor replaces under `max_autotune`."""
