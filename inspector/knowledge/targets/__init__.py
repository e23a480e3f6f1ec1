"""What GPUs and this machine's CPU can do. Data with sources; may not know any compile."""
