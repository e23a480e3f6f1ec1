"""Probes for everything from the schedule to the kernels and the wrapper."""
