"""Which private names of torch are gone in the torch that is installed: a report in Markdown, for the nightly run.

    python -m scripts.private_names

Of those that the newest torch that is known here has. Exit status: 0 where all are there, 1 where one is gone.
"""

import sys

import torch

from inspect_compile.commands.doctor import NEWEST
from inspect_compile.torch_compat import Attribute, Frame, Name
from tests.private_names import can_be_there, covers, is_there, told


def main() -> int:
    newest = ".".join(map(str, NEWEST))
    every: list[Name | Frame | Attribute] = [*told(Name), *told(Frame), *told(Attribute)]
    expected = [one for one in every if covers(one, newest) and can_be_there(one)]
    gone = [one for one in expected if not is_there(one)]
    print(f"## Private names of torch {torch.__version__}\n")
    print(f"{len(expected) - len(gone)} of {len(expected)} names that torch {newest} has are there.\n")
    if gone:
        print("| gone | needed for |\n|---|---|")
        print("\n".join(f"| `{one}` | {one.reason} |" for one in gone))
    return bool(gone)


if __name__ == "__main__":
    sys.exit(main())
