"""sys.settrace and sys.setprofile, as a debugger and a coverage tool set them, before torch is imported and until the
end.
"""

import sys
import threading
from collections import Counter
from types import FrameType
from typing import Any

lines: Counter[str] = Counter()
calls: Counter[str] = Counter()


def trace(frame: FrameType, event: str, _: Any) -> Any:
    if frame.f_code.co_filename != __file__:
        return None
    lines[f"{event} {frame.f_code.co_name}"] += 1
    return trace


def profile(frame: FrameType, event: str, _: Any) -> None:
    if frame.f_code.co_filename == __file__:
        calls[f"{event} {frame.f_code.co_name}"] += 1


sys.settrace(trace)
threading.settrace(trace)

import torch  # noqa: E402 - it is traced as well


@torch.compile
def scaled(x: torch.Tensor) -> torch.Tensor:
    y = x * 2
    return y + 1


def work() -> None:
    print(scaled(torch.ones(2)).tolist())


thread = threading.Thread(target=work)
thread.start()
thread.join()
work()
sys.setprofile(profile)
work()
print(sys.gettrace() is trace, sys.getprofile() is profile)
sys.setprofile(None)
print(sorted(lines.items()))
print(sorted(calls.items()))
sys.exit(3)
