"""Packs a dump into one file for others, on request without secrets and source lines. Needs no torch.

May not know torch or a screen.
"""
