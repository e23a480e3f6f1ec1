"""What a dump leaves out or lets go, so that a long run does not fill the disk. May not know how facts are
written."""
