"""Makes hooks faulty, from outside: HARMLESS_FAULTS holds, as JSON, the torch name that a hook watches → what it does.

`raise` an exception, return `nonsense`, `sleep` a second, or be `missing` from torch. It stands in for the user's own
sitecustomize, which the bootstrap imports after itself. HARMLESS_WITNESS names a file that hears of every fact at once.
HARMLESS_REMOVES names a table: before its first fact is recorded, the dump's directory is removed. HARMLESS_LACKS names
an object of torch that hooks look up, and do not find.
"""

import functools
import json
import os
import time
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from inspect_compile.dump import Writer
    from inspect_compile.facts import Fact

SLEEP_SECONDS = 1.0


def _fault(target: str) -> str | None:
    """Looked up when it is needed: a process may become one program after another (tests/warm.py)."""
    faults = _faults(os.environ["HARMLESS_FAULTS"])
    return faults.get(target, faults.get("*"))


@functools.cache
def _faults(text: str) -> dict[str, str]:
    found: dict[str, str] = json.loads(text)
    return found


def _spoil() -> None:
    from inspect_compile.probe import HookState, Probes

    plain, plain_install = Probes.guard, Probes._install

    def install(self: Probes, hook: HookState, name: Any, placed: Callable[[Any], Any]) -> None:
        if _fault(hook.target) == "missing":
            plain_install(self, hook, name, lambda module: getattr(module, f"no {hook.target}"))
        else:
            plain_install(self, hook, name, placed)

    def guard(self: Probes, hook: HookState, call: Callable[..., Any], *args: Any) -> Any:
        fault = _fault(hook.target)

        def faulty(*args: Any) -> Any:
            if fault == "raise":
                raise RuntimeError("a fault from outside")
            if fault == "nonsense":
                return object()
            time.sleep(SLEEP_SECONDS)
            return call(*args)

        return plain(self, hook, call if fault is None else faulty, *args)

    # Its frame is taken for one of ours, and not for the program's or torch's.
    own = {**globals(), "__name__": "inspect_compile.faulty"}
    Probes.guard = types.FunctionType(guard.__code__, own, "guard", None, guard.__closure__)  # type: ignore[method-assign]
    Probes._install = install  # type: ignore[assignment, method-assign]


if "HARMLESS_FAULTS" in os.environ:
    _spoil()


def _before_each_fact(hear: Callable[["Writer", "Fact"], None]) -> None:
    from inspect_compile.dump import Writer

    plain, plain_batch = Writer.add, Writer.add_batch

    def add(self: Writer, fact: "Fact") -> None:
        hear(self, fact)
        plain(self, fact)

    def add_batch(self: Writer, batch: "list[Fact]") -> None:
        for fact in batch:
            hear(self, fact)
        plain_batch(self, batch)

    Writer.add, Writer.add_batch = add, add_batch  # type: ignore[method-assign]


def _tell_facts(path: str) -> None:
    """Append each fact's moment (nanoseconds of the system's clock), process and file to `path`, before it is there."""
    from inspect_compile.dump import paths

    witness = os.open(path, os.O_WRONLY | os.O_APPEND | os.O_CREAT)

    def tell(_: "Writer", fact: "Fact") -> None:
        name = paths.table(fact.table, fact.graph if fact.per_graph else None)
        os.write(witness, f"{time.monotonic_ns()} {os.getpid()} {name}\n".encode())

    _before_each_fact(tell)


if "HARMLESS_WITNESS" in os.environ:
    _tell_facts(os.environ["HARMLESS_WITNESS"])


def _remove_dump(table: str) -> None:
    import shutil

    left = [table]

    def remove(writer: "Writer", fact: "Fact") -> None:
        if fact.table in left:
            left.clear()
            writer.flush()
            shutil.rmtree(writer.root)

    _before_each_fact(remove)


if "HARMLESS_REMOVES" in os.environ:
    _remove_dump(os.environ["HARMLESS_REMOVES"])


def _hide() -> None:
    from inspect_compile.lowering.core import scopes
    from inspect_compile.torch_compat import Name

    plain = scopes.torch_object

    def torch_object(name: Name) -> Any:
        return None if str(name) == os.environ["HARMLESS_LACKS"] else plain(name)

    scopes.torch_object = torch_object


if "HARMLESS_LACKS" in os.environ:
    _hide()
