"""Entries made by hand."""

from typing import Any, Final

import msgspec

from inspect_compile.facts import CallSite, Location
from inspect_compile.kept.entry import Entry

VERSIONS: Final = ("torch 2.13.0",)
KEY: Final = "akey"
CONTENT: Final = "0" * 64

LINE: Final = Location("/net.py", 7, "forward", "y = x + 1")

ENTRY: Final = Entry(
    versions=VERSIONS,
    key=KEY,
    content=CONTENT,
    when="2026-11-25 14:33:09+00:00",
    compile_id="0/0",
    aot_id="model__0",
    graphs=("model__0_inference_0.0",),
    codes=("c" * 64,),
    hints=(),
    waits=(),
    nodes=(("x", -1), ("add", 0)),
    stacks=((LINE,),),
    caller=Location("/main.py", 3, "<module>", "net(x)", 1),
    sites=(
        CallSite(site=1, file="/main.py", line=3, function="<module>", code="net(x)"),
        CallSite(site=2, caller=1, file="/net.py", line=7, function="forward", code="y = x + 1"),
    ),
    files=(("torchinductor/model__0_inference_0.0/output_code.py", b"code"),),
)


def changed(**more: Any) -> Entry:
    """ENTRY with other fields."""
    return msgspec.structs.replace(ENTRY, **more)
