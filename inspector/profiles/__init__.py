"""Reads what other tools recorded about a run, as events: streamed, and without knowing dumps or torch.

May not know dumps or torch.
"""

from inspect_compile.profiles.events import GpuRun, HostCall, Profile, Span

__all__ = ["GpuRun", "HostCall", "Profile", "Span"]
