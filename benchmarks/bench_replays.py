"""What watching costs a call that is the replay of a CUDA graph: microseconds of the host for a call.

python benchmarks/bench_replays.py                                             # plain
inspect-compile run --no-tui --dump DIR benchmarks/bench_replays.py            # watched
"""

import statistics
import time

import torch


def main() -> None:
    """Print the medians of many rounds."""
    compiled = torch.compile(lambda x: (x * 2).sin(), mode="reduce-overhead")
    x = torch.randn(16, device="cuda")
    for _ in range(200):
        compiled(x)
    rounds = []
    for _ in range(100):
        torch.cuda.synchronize()
        started = time.perf_counter()
        for _ in range(200):
            compiled(x)
        rounds.append((time.perf_counter() - started) / 200 * 1e6)
    print(f"replay: median {statistics.median(rounds):.2f} µs, least {min(rounds):.2f} µs")


if __name__ == "__main__":
    main()
