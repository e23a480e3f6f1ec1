"""What other tools wrote about a run, read as events: streamed, and without knowing of dumps or torch."""

from inspect_compile.profiles.events import GpuRun, HostCall, Profile, Span

__all__ = ["GpuRun", "HostCall", "Profile", "Span"]
