"""What torch counts of each compile, and the settings that it was compiled with."""

import json
from typing import Any, Final

from inspect_compile.facts import Metrics, Settings
from inspect_compile.lowering.core.scopes import compile_id, torch_object
from inspect_compile.probe import Probes, argument
from inspect_compile.torch_compat import Name, dynamo, inductor
from inspect_compile.torch_compat import traced as names
from inspect_compile.torch_compat.compilers import FUNCTORCH_CONFIG

PROBE = "lowering.metrics"

_SETTINGS: Final = {
    "dynamo_config": dynamo.CONFIG,
    "functorch_config": FUNCTORCH_CONFIG,
    "inductor_config": inductor.CONFIG,
    "compiler_config": names.COMPILER_CONFIG,
}
"""torch's name for the settings among its metrics → the module that they are of."""
_ELSEWHERE: Final = frozenset({*_SETTINGS, "exception_stack_trace", "stack_trace", "compile_id"})
_LONGEST: Final = 2000
"""Maximum length of a value, in characters."""
_AS_JSON: Final = json.JSONEncoder(default=str).encode
_FROM_JSON: Final = json.JSONDecoder().decode
"""Not `json.dumps` and `json.loads`, which a test may have replaced around a first call."""
_KINDS: Final = {True: "frame", False: "backward"}


class _Told:
    """The settings that were recorded last, of each module, as torch writes them."""

    def __init__(self) -> None:
        self.texts: dict[str, str] = {}

    def facts(self) -> list[Any]:
        """Empty: settings are recorded at once."""
        return []

    def forget(self) -> None:
        """Another dump begins."""
        self.texts.clear()


def install(probes: Probes) -> None:
    """Hook what is called with each of torch's records, in every compile."""
    account = _Told()
    probes.accounts.append(account)

    def counted(instance: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        found = vars(argument(args, kwargs, 0, "c"))
        # A backward that is compiled later is counted after its compile id is gone from the thread.
        graph = compile_id() or ""
        values = {name: _plain(value) for name, value in found.items() if value is not None and name not in _ELSEWHERE}
        kind = "runtime" if found.get("is_runtime") else _KINDS.get(found.get("is_forward", True), "frame")
        probes.sink.add(Metrics(graph=graph, of=kind, values=values))
        for name, module in _SETTINGS.items():
            text = found.get(name)
            if type(text) is str and account.texts.get(name) != text:
                account.texts[name] = text
                probes.sink.add(_settings(graph, module, text))

    probes.wrap(PROBE, names.METRICS, before=counted)


def _plain(value: Any) -> str | int | float | bool:
    if type(value) in (bool, float) or (type(value) is int and -(2**63) <= value < 2**63):
        return value  # type: ignore[no-any-return]
    if isinstance(value, (set, frozenset)):
        value = sorted(map(str, value))
    return (value if type(value) is str else _AS_JSON(value))[:_LONGEST]


def _settings(graph: str, module: Name, text: str) -> Settings:
    values = {name: _json(value) for name, value in _FROM_JSON(text).items()}
    config = torch_object(module)
    known = getattr(config, "_config", {})
    # A setting that a compile patches to what it was before has its default all the same.
    defaults = {
        name: default
        for name, value in values.items()
        if name in known and not config._is_default(name) and value != (default := _json(known[name].default))
    }
    return Settings(graph=graph, module=str(module), values=values, changed=tuple(defaults), defaults=defaults)


def _json(value: Any) -> str:
    return _AS_JSON(value)[:_LONGEST]
