"""Probes of the scheduler's nodes, before and after fusion.

May not know which fusions were tried.
"""
