"""An FX graph of any recorded stage as a picture: which nodes are shown, how they fold, and the words in them.

May not know how a picture is written as DOT or SVG.
"""
