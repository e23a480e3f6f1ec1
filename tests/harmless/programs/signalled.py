"""A signal in the middle of a compile, while a node is lowered: `python signalled.py NAME WHAT`.

WHAT it finds: `default`, the default action; `raises`, a handler whose exception ends the compile; `notes`, a handler
that prints. After `raises` and `notes` the program compiles on.
"""

import os
import signal
import sys
import traceback
from types import FrameType

import torch
from torch._inductor.lowering import lowerings, register_lowering

name, what = sys.argv[1:]
number = getattr(signal, name)
aten_cos = torch.ops.aten.cos.default
plain = lowerings[aten_cos]
sent = False


class TookTooLongError(Exception):
    """What `raises` raises."""


@register_lowering(aten_cos, type_promotion_kind=None)
def cosine(x: object) -> object:
    global sent
    if not sent:
        sent = True
        os.kill(os.getpid(), number)
    return plain(x)


def heard(number: int, frame: FrameType | None) -> None:
    print("heard", signal.Signals(number).name, frame is not None and frame.f_code.co_name)
    if what == "raises":
        raise TookTooLongError


if what != "default":
    signal.signal(number, heard)

compiled = torch.compile(torch.cos)
try:
    print(compiled(torch.ones(3)).sum().item())
except TookTooLongError:
    traceback.print_exc()
print(compiled(torch.ones(3)).sum().item())
