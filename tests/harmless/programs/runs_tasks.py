"""Compiled functions in tasks of an event loop, one of them cancelled; an exception that nobody awaits, and one that ends
it.
"""

import asyncio

import torch


@torch.compile(dynamic=False)
def scaled(x: torch.Tensor) -> torch.Tensor:
    return x * 2 + 1


async def work(number: int) -> float:
    await asyncio.sleep(0.01 * number)
    return scaled(torch.ones(2)).sum().item() + number


async def endless() -> None:
    try:
        while True:
            scaled(torch.ones(2))
            await asyncio.sleep(0)
    finally:
        print("cancelled")


async def main() -> None:
    asyncio.get_running_loop().set_exception_handler(lambda _, context: print("heard:", context["message"]))
    print(await asyncio.gather(*(work(number) for number in range(3))))
    print(await asyncio.to_thread(scaled, torch.ones(3)))
    task = asyncio.create_task(endless())
    await asyncio.sleep(0.05)
    task.cancel()
    print(await asyncio.gather(task, return_exceptions=True))
    async with asyncio.TaskGroup() as group:
        group.create_task(work(0))
        raise ValueError(str(scaled(torch.ones(2)).tolist()))


asyncio.run(main())
