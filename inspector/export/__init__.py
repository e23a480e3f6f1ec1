"""A dump in the forms that other tools read: traces for Perfetto, graphs for Model Explorer, JSON, DOT.

May not know torch or textual, nor how a page or a screen looks.
"""
