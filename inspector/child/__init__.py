"""What runs in the user's process: the bootstrap, and the installation of the probes."""
