"""At exit, pickles an object of a class of __main__ and reads it back."""

import atexit
import pickle
import sys
from dataclasses import dataclass
from pathlib import Path

import torch


@dataclass
class Result:
    """Found again as __main__.Result."""

    values: list[float]


result = Result(torch.compile(torch.cos)(torch.zeros(2)).tolist())


@atexit.register
def keep() -> None:
    Path("result.pickle").write_bytes(pickle.dumps(result))
    read = pickle.loads(Path("result.pickle").read_bytes())
    print(read, type(read) is Result, sys.modules["__main__"].__dict__["result"] is result)
