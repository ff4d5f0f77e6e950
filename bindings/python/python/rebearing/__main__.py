"""``python -m rebearing``: the command line, where its script is not on the search path."""

from ._command import main

if __name__ == "__main__":
    main()
