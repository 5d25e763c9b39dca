"""The public peer-review record on OpenReview as a corpus, from Python.

`harvest` fetches venues into a workspace, `build` makes its tables, `publish` writes a dataset of them: each does what
the command of that name does. `open` returns the tables of a workspace as Polars frames, `load_release` those of a
dataset, and both answer SQL. `simulate` runs an invented OpenReview on this machine, to try all of it.

>>> import peercorpus
>>> corpus = peercorpus.open("corpus")
>>> corpus.papers().select("forum_id", "title", "status").collect().height
12

Every name is imported when it is first used. Errors are `peercorpus.errors.PeercorpusError`.
"""

TYPE_CHECKING = False  # To import `typing` takes long enough for an interrupt, which would end in a traceback.
if TYPE_CHECKING:
    from peercorpus.api.converted import open_text
    from peercorpus.api.corpus import Corpus, open  # noqa: A004 -- read as `peercorpus.open`
    from peercorpus.api.releases import LoadedRelease, load_release
    from peercorpus.api.simulation import Simulation, simulate
    from peercorpus.api.steps import BuildResult, HarvestResult, PublishResult, build, harvest, publish

    __version__: str
else:
    # The import of a package sets its name here once, when it is first imported. This one's is the function's, below.
    import peercorpus.harvest

    del harvest, peercorpus

__all__ = [
    "BuildResult",
    "Corpus",
    "HarvestResult",
    "LoadedRelease",
    "PublishResult",
    "Simulation",
    "__version__",
    "build",
    "harvest",
    "load_release",
    "open",
    "open_text",
    "publish",
    "simulate",
]

_MODULES = {
    "BuildResult": "steps",
    "Corpus": "corpus",
    "HarvestResult": "steps",
    "LoadedRelease": "releases",
    "PublishResult": "steps",
    "Simulation": "simulation",
    "build": "steps",
    "harvest": "steps",
    "load_release": "releases",
    "open": "corpus",
    "open_text": "converted",
    "publish": "steps",
    "simulate": "simulation",
}
"""Public name → the module of `peercorpus.api` that has it."""

_EXTRAS = {"corpus": "corpus", "releases": "release", "steps": "corpus"}
"""Module of `peercorpus.api` → the extra that it needs."""

_PACKAGES = {"corpus": ("polars", "pyarrow", "deltalake"), "release": ("polars", "pyarrow")}
"""Extra → the packages without which nothing of it works."""

if not TYPE_CHECKING:  # A type checker would take every other name for one of these.

    def __getattr__(name: str) -> object:
        if name == "__version__":
            from importlib.metadata import version

            return version("peercorpus")
        if name not in _MODULES:
            raise AttributeError(f"module 'peercorpus' has no attribute {name!r}")
        from importlib import import_module

        module = _MODULES[name]
        _require(_EXTRAS.get(module, ""))
        return getattr(import_module(f"peercorpus.api.{module}"), name)

    def _require(extra: str) -> None:
        from importlib.util import find_spec

        for package in _PACKAGES.get(extra, ()):
            try:
                is_there = find_spec(package) is not None
            except ModuleNotFoundError:  # as an import hook may say it
                is_there = False
            if not is_there:
                from peercorpus.errors import MissingExtraError

                raise MissingExtraError(package, extra)


def __dir__() -> list[str]:
    return sorted(__all__)
