"""A module of the program."""

NAME = __name__
print("imported", __name__, __package__)
