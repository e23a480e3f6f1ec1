"""A fork server's processes compile, and end in every way: `python serves_forks.py MODULES`, which the server loads."""

import multiprocessing
import sys


def scaled(number: float) -> list[float]:
    import torch

    return torch.compile(lambda x: x * 3 + 1)(torch.full((2,), number)).tolist()


def ends(how: str) -> None:
    print(how, scaled(4.0), flush=True)
    if how == "exits":
        sys.exit(6)
    if how == "raises":
        raise ValueError(how)


if __name__ == "__main__":
    context = multiprocessing.get_context("forkserver")
    context.set_forkserver_preload(sys.argv[1:])
    with context.Pool(2) as pool:
        print(sorted(pool.map(scaled, [2.0, 3.0], chunksize=1)), flush=True)
        pool.close()
        pool.join()
    for how in ("returns", "exits", "raises"):
        process = context.Process(target=ends, args=(how,))
        process.start()
        process.join()
        print(process.exitcode, flush=True)
    print(scaled(1.0), flush=True)
