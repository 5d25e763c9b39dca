"""Which executors there are; each is imported only when it is chosen."""

from collections.abc import Mapping
from importlib import import_module
from importlib.util import find_spec
from types import MappingProxyType
from typing import cast

from peercorpus.errors import MissingExtraError, PeercorpusError
from peercorpus.spread import Spread

EXECUTORS: Mapping[str, str] = MappingProxyType(
    {
        "local": "peercorpus.executors.local:LocalExecutor",
        "ray": "peercorpus.executors.ray:RayExecutor",
    }
)
"""Name → where the class is."""

ELSEWHERE = frozenset({"ray"})
"""Those that work on other machines, and take an address."""


def load_executor(name: str, address: str | None = None, *, heavy: bool = False, counts_here: bool = False) -> Spread:
    """Make the executor of this name.

    Args:
        name: One of `EXECUTORS`.
        address: Where its cluster is; None means what that executor takes for it.
        heavy: Whether the work may take as much memory as there is, as engines with models do.
        counts_here: Whether the work keeps a budget in a file of this machine, as engines that ask an endpoint do.

    Raises:
        PeercorpusError: There is none; it works on this machine and an address was given; or it works on others, where
            a budget would be spent anew.
        MissingExtraError: It is not installed.
    """
    if name not in EXECUTORS:
        raise PeercorpusError(f"There is no executor '{name}'; choose one of: {', '.join(sorted(EXECUTORS))}.")
    if address is not None and name not in ELSEWHERE:
        raise PeercorpusError(f"The executor '{name}' works on this machine; leave --address out, or choose 'ray'.")
    if counts_here and name in ELSEWHERE:
        raise PeercorpusError(
            "Pages sent to a vision endpoint are counted on this machine; leave --executor out: what takes time is done"
            " by the endpoint."
        )
    if name in ELSEWHERE and find_spec(name) is None:
        raise MissingExtraError(name, name)
    module, _, attribute = EXECUTORS[name].partition(":")
    made = getattr(import_module(module), attribute)
    more = {"memory_bytes": None} if heavy else {}
    return cast(Spread, made(address, **more) if name in ELSEWHERE else made(**more))
