"""What keys do: the list of all actions, and what they need beyond the screen: steps back, the editor, files, drawings.

May not know the views, nor how a list is drawn.
"""
