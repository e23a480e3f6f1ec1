"""What can be drawn: `KINDS` in `every` has each kind of picture once, for the command, the app and the page alike.

May not know where a picture goes, nor how a person asked for it.
"""
