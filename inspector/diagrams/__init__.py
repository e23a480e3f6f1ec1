"""Facts to DOT and SVG.

May not know torch, a terminal or a screen.
"""
