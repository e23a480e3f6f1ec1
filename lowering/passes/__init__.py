"""Probes of what runs over the FX graphs before lowering: passes, patterns, the joint graph.

May not know IR.
"""
