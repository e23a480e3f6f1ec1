"""What Python code and notebooks get: recordings with findings and tables as objects, and the magic of IPython.

The names of docs/api.md are promised, and only those. May not know the commands, nor the terminal app.
"""
