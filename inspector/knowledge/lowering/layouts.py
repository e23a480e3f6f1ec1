"""torch's estimates of the speed of convolutions in channels-last memory.

Source: `GraphLowering.decide_layout_opt` of torch/_inductor/graph.py, torch 2.11, 2.13 and 2.15: averages over the
convolutions of torchbench's training runs. They decide for graphs without a backward.
"""

from typing import Final

MULTIPLIERS: Final[dict[str, float]] = {"grouped": 1.358, "default": 0.823, "in_out": 0.725, "small": 0.783}
"""Kind of convolution → time in channels-last memory relative to contiguous memory."""

MOST_NODES: Final = 300
"""Number of nodes for each convolution from which on torch does not optimize a graph's layouts."""

SMALL: Final = 64
"""Channels of a small convolution, at most."""
