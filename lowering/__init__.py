"""Probes for everything from the Python frame to the schedule."""
