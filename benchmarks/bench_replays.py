"""What watching costs a call that is the replay of a CUDA graph: microseconds of the host and of the device, by itself.

python benchmarks/bench_replays.py                                             # plain
inspect-compile run --no-tui --dump DIR benchmarks/bench_replays.py            # watched
"""

import statistics
import time

import torch


def main() -> None:
    """Print the medians of several rounds."""
    layers = torch.nn.Sequential(*(torch.nn.Linear(256, 256) for _ in range(4))).cuda().requires_grad_(False)
    compiled = torch.compile(layers, mode="reduce-overhead")
    x = torch.randn(16, 256, device="cuda")
    for _ in range(20):
        compiled(x)
    torch.cuda.synchronize()
    rounds = []
    for _ in range(30):
        started = time.perf_counter()
        for _ in range(300):
            compiled(x)
        torch.cuda.synchronize()
        rounds.append((time.perf_counter() - started) / 300 * 1e6)
    print(f"replay: median {statistics.median(rounds):.2f} µs, least {min(rounds):.2f} µs")


if __name__ == "__main__":
    main()
