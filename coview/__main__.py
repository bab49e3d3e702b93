"""`python -m coview` is the command line, as `torchrun -m coview` needs it."""

from coview.cli import main

if __name__ == "__main__":
    main()
