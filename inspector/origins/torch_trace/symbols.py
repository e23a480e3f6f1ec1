"""The symbols of sizes in a TORCH_TRACE log."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from inspect_compile.facts import Symbol
from inspect_compile.origins.torch_trace.records import Record

_KINDS: Final = ("create_symbol", "create_unbacked_symbol")
_MOST: Final = 10_000


@dataclass
class TracedSymbols:
    """What torch told of each symbol when it made it."""

    known: dict[str, dict[str, Symbol]] = field(default_factory=dict)
    """Compile → name → the symbol, of no graph yet."""
    count: int = 0

    def add(self, record: Record, compile_id: str) -> None:
        """Keep the symbol that a record tells of."""
        value = record.value
        if record.kind not in _KINDS or not isinstance(value, dict) or self.count >= _MOST:
            return
        match value:
            case {"symbol": str(name)}:
                self.count += 1
                hint, source = value.get("val"), value.get("source")
                lower, upper = _range(value.get("vr"))
                self.known.setdefault(compile_id, {})[name] = Symbol(
                    graph="", name=name, hint=hint if isinstance(hint, str) else "", lower=lower, upper=upper,
                    source=source if isinstance(source, str) else "",
                )  # fmt: skip

    def of(self, compile_id: str) -> Mapping[str, Symbol]:
        """The symbols of a compile, by name."""
        return self.known.get(compile_id, {})


def _range(text: object) -> tuple[str, str]:
    """`[2, int_oo]`."""
    if not (isinstance(text, str) and text.startswith("[") and text.endswith("]")):
        return "", ""
    lower, _, upper = text[1:-1].partition(", ")
    return lower, upper
