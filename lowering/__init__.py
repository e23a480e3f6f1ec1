"""Probes from the Python frame to the schedule."""
