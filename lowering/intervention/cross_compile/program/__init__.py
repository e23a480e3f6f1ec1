"""What runs in the user's process under --target: what asks for a GPU runs on the CPU, and graphs are handed over.

May not know how they are compiled.
"""
