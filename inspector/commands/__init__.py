"""The command line: one small class for each subcommand."""
