"""What runs in the user's process: the bootstrap, and the installation of the probes.

May not know what is made of the facts: analyses, tables or screens.
"""
