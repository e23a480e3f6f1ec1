"""A dump as graphs for Model Explorer, with figures as its custom node data.

May not know torch or textual, nor the other forms.
"""
