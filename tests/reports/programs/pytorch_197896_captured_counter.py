# after pytorch#197896: a dict that a method of a local class captures is not changed
import torch

count = {"calls": 1.0}


def step(x):
    class Counter:
        def touch(self):
            count["calls"] += 1.0

    Counter().touch()
    return x * count["calls"]


def inputs():
    count["calls"] = 1.0
    return [(torch.ones(2),), (torch.ones(2),)]


if __name__ == "__main__":
    for run in (step, torch.compile(step)):
        for args in inputs():
            print(run(*args))
