"""Run the command line, and end it with one sentence on an interrupt at any time, even during its imports.

Nothing is imported outside `main`, as an interrupt there would end in a traceback.
"""

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import NoReturn


def main(arguments: "Sequence[str] | None" = None) -> "NoReturn":
    """Run one command and exit.

    The exit code is an `ExitCode`. If a command cannot be carried out, standard error says why in one sentence.

    Args:
        arguments: Arguments of the command line; None takes them from `sys.argv`.
    """
    if arguments is None:  # This is a process of its own.
        _keep_folder_from_workers()
    try:
        code = _run(arguments)
    except KeyboardInterrupt:
        from peercorpus.cli.interrupts import settle_interrupt
        from peercorpus.cli.streams import print_notice
        from peercorpus.errors import ExitCode

        settle_interrupt()
        print_notice("\nStopped; run the same command again to continue.")
        code = ExitCode.STOPPED
    from peercorpus.cli.interrupts import ignore_interrupts_at_exit

    ignore_interrupts_at_exit()
    raise SystemExit(code)


def _keep_folder_from_workers() -> None:
    """Keep the processes that this one starts from importing modules from the working directory, as Python would."""
    import os

    os.environ["PYTHONSAFEPATH"] = "1"


def _run(arguments: "Sequence[str] | None") -> int:
    try:
        from peercorpus.cli.run_command import run_command

        return run_command(arguments)
    except Exception as error:
        from peercorpus.cli.interrupts import is_interrupt

        if is_interrupt(error):
            raise KeyboardInterrupt from error
        raise
