"""Probes of the caches that torch keeps compiled graphs in: lookups, and what the keys are made of.

May not know the probes behind the scheduler.
"""
