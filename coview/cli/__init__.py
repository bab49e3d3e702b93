"""The command line."""

from coview.cli.app import main

__all__ = ["main"]
