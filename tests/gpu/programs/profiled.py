"""What the programs share: profile some calls, and write the trace where the first argument says."""

import sys

import torch
from torch.profiler import ProfilerActivity, profile


def profiled(step, *, warm=4, times=3):
    for _ in range(warm):
        step()
    torch.cuda.synchronize()
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.CUDA], record_shapes=True) as prof:
        for _ in range(times):
            step()
        torch.cuda.synchronize()
    prof.export_chrome_trace(sys.argv[1])
