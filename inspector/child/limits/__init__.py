"""What a dump leaves out or lets go, so that a long run does not fill the disk. Knows no files."""
