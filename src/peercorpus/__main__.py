"""`python -m peercorpus` is the command line."""

from peercorpus.cli import main

if __name__ == "__main__":
    main()
