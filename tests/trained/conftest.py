"""The command line as the tests call it."""

from command import run as run
