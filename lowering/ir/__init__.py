"""Probes of the lowering: each node on its way to IR, what becomes a buffer, and IR as text.

May not know the scheduler.
"""
