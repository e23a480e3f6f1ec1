"""Kernels and their launches: statements, compiled stages, configurations, and what autotuning chose.

May not know bytes and FLOPs of a launch (`cost`) nor profiles (`runtime`).
"""
