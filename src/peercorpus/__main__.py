"""Run the command line by `python -m peercorpus`."""

from peercorpus.cli.main import main

if __name__ == "__main__":
    main()
