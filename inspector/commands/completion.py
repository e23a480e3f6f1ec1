"""`completion`: what a shell reads so that Tab completes commands, options, dumps, tables, graphs and kernels."""

import argparse
from typing import Final

from inspect_compile.commands.streams import PROGRAM, say

SHELLS: Final = ("bash", "zsh", "fish")


class Completion:
    """Prints a few lines of shell."""

    def configure(self, parser: argparse.ArgumentParser) -> None:
        """Add its arguments."""
        parser.add_argument("shell", choices=SHELLS, help="the shell that reads the lines")
        parser.epilog = (
            f'bash and zsh: add `eval "$({PROGRAM} completion bash)"`, or zsh, to .bashrc or .zshrc. '
            f"fish: `{PROGRAM} completion fish > ~/.config/fish/completions/{PROGRAM}.fish`."
        )

    def run(self, arguments: argparse.Namespace) -> int:
        """Print them."""
        from argcomplete.shell_integration import shellcode

        say(shellcode([PROGRAM], shell=arguments.shell).rstrip("\n"))
        return 0
