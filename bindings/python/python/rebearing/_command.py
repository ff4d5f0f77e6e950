"""The console script ``rebearing``: the whole command line."""

import signal
import sys

from ._rebearing import command


def main():
    """Runs the command with the words of the command line and ends with its exit code."""
    # The command ends at once on Ctrl-C and on a closed pipe, as if no interpreter were around it.
    signal.signal(signal.SIGINT, signal.SIG_DFL)
    sys.exit(command(["rebearing", *sys.argv[1:]]))
