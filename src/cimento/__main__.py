"""The entry point of ``python -m cimento``, which runs the command line."""

from cimento.cli.main import main

if __name__ == "__main__":
    main()
