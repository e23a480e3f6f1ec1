"""What `draw` makes of its words, where it writes pictures, and the list of what can be drawn.

May not know another command.
"""
