"""Check that the packages of an extra are installed before a command reads or writes anything."""

from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from importlib.util import find_spec

from peercorpus.errors import MissingExtraError


def require_extra(extra: str, *packages: str, load: bool = False) -> None:
    """Check that packages which a command needs later are installed.

    Args:
        extra: The extra that installs them.
        packages: Their import names.
        load: Import them now: a package that threads import on demand may not find enough memory there.

    Raises:
        MissingExtraError: One is not.
    """
    for package in packages:
        if find_spec(package) is None:
            raise MissingExtraError(package, extra)
        if load:
            import_module(package)


@contextmanager
def needs_extra(extra: str) -> Iterator[None]:
    """Raise a `MissingExtraError` if a package is missing that the imports inside need.

    Args:
        extra: The extra that installs it.
    """
    try:
        yield
    except ModuleNotFoundError as missing:
        package = str(missing.name).partition(".")[0]
        if package == "peercorpus":
            raise
        raise MissingExtraError(package, extra) from None
