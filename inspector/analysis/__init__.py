"""Pure functions from facts to records. Imports neither torch nor any view.

May not know torch, nor any view.
"""
