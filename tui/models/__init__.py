"""What each part of the screen shows, as plain values built from a dump. Imports neither widgets nor textual.

May not know widgets or textual.
"""
