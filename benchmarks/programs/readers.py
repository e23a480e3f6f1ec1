"""Many readers of one scalar, no two of one length: each pair of them is looked at, refused, and looked at again.

`python readers.py [READERS]`: prints the CPU seconds of the compile of this process.
"""

import sys
import time

import torch


def step(scalar, *tensors):
    return [tensor * scalar for tensor in tensors]


def main(readers):
    torch._inductor.config.max_fusion_buffer_group_pairwise_attempts = readers
    tensors = [torch.zeros(3 + number) for number in range(readers)]
    began = time.process_time()
    torch.compile(step, dynamic=False)(torch.ones(1), *tensors)
    print(f"{time.process_time() - began:.3f}")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 318)
