"""What tests of a program say about its compiled code: a plugin of pytest and its assertions.

May not know: probes, views of the terminal app.
"""
