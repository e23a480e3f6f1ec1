"""What torch itself counts of a compile, and the settings that it was made with."""

from typing import ClassVar

from inspect_compile.facts.base import Fact, Int64


class Metrics(Fact, frozen=True, kw_only=True, tag="metrics"):
    """torch's CompilationMetrics of one compile; `graph` holds the compile id."""

    table: ClassVar[str] = "metrics"
    per_graph: ClassVar[bool] = False

    of: str
    """`frame` (Dynamo, and what it called), `backward` (compiled later), `runtime` (autotuning in the first call)."""
    values: dict[str, str | Int64 | float | bool] = {}
    """torch's names → values, without those that are not set; settings and stacks are recorded elsewhere."""


class Settings(Fact, frozen=True, kw_only=True, tag="settings"):
    """All settings of one of torch's configuration modules, at the first compile and wherever one has changed.

    `graph` holds the compile id.
    """

    table: ClassVar[str] = "settings"
    per_graph: ClassVar[bool] = False

    module: str
    """`torch._inductor.config`."""
    values: dict[str, str] = {}
    """Name → value as JSON, as torch logs it."""
    changed: tuple[str, ...] = ()
    """Names of those that have not torch's default: set by the program or the environment."""
    defaults: dict[str, str] = {}
    """Name → torch's default as JSON, of those that are in `changed`. The others' values are their defaults."""
