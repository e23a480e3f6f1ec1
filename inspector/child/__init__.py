"""What runs in the user's process: the door and the installing of the probes."""
