"""The schedule as a picture: what becomes a box, an arrow or a frame, and the words in them.

May not know how a picture is written as DOT or SVG.
"""
