"""The run, its frames and its other processes. May not know textual."""
