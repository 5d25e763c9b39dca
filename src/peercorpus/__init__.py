"""The public peer-review record on OpenReview as a corpus, from Python.

`harvest` fetches venues into a workspace, `build` makes its tables and `publish` writes a dataset from them, each like
the command of the same name. `open` returns the tables of a workspace as Polars frames, `load_release` those of a
dataset; both accept SQL. `simulate` runs an invented OpenReview on this machine for trying all of this out.

>>> import peercorpus
>>> corpus = peercorpus.open("corpus")
>>> corpus.papers().select("forum_id", "title", "status").collect().height
12

Every name is imported when it is first used. Errors are `peercorpus.errors.PeercorpusError`.
"""

TYPE_CHECKING = False  # Importing `typing` takes long enough for an interrupt to end in a traceback.
if TYPE_CHECKING:
    from peercorpus.api.build import BuildResult, PublishResult, build, open_text, publish
    from peercorpus.api.corpus import Corpus, open  # noqa: A004 -- read as `peercorpus.open`
    from peercorpus.api.harvest import HarvestResult, harvest, plan_harvest
    from peercorpus.api.releases import LoadedRelease, load_release
    from peercorpus.api.simulation import Simulation, simulate
    from peercorpus.execution.requests import BuildRequest, HarvestRequest
    from peercorpus.release.request import ReleaseRequest

    __version__: str
else:
    # Python sets a subpackage's name here when it is first imported; the name below must stay the function's.
    import peercorpus.harvest

    del harvest, peercorpus

__all__ = [
    "BuildRequest",
    "BuildResult",
    "Corpus",
    "HarvestRequest",
    "HarvestResult",
    "LoadedRelease",
    "PublishResult",
    "ReleaseRequest",
    "Simulation",
    "__version__",
    "build",
    "harvest",
    "load_release",
    "open",
    "open_text",
    "plan_harvest",
    "publish",
    "simulate",
]

_MODULES = {
    "BuildRequest": "execution.requests",
    "BuildResult": "api.build",
    "Corpus": "api.corpus",
    "HarvestRequest": "execution.requests",
    "HarvestResult": "api.harvest",
    "LoadedRelease": "api.releases",
    "PublishResult": "api.build",
    "ReleaseRequest": "release.request",
    "Simulation": "api.simulation",
    "build": "api.build",
    "harvest": "api.harvest",
    "load_release": "api.releases",
    "open": "api.corpus",
    "open_text": "api.build",
    "plan_harvest": "api.harvest",
    "publish": "api.build",
    "simulate": "api.simulation",
}
"""Public name → the module of `peercorpus` that defines it."""

if not TYPE_CHECKING:  # A type checker would otherwise accept any name.

    def __getattr__(name: str) -> object:
        if name == "__version__":
            from importlib.metadata import version

            return version("peercorpus")
        if name not in _MODULES:
            raise AttributeError(f"module 'peercorpus' has no attribute {name!r}")
        from importlib import import_module

        return getattr(import_module(f"peercorpus.{_MODULES[name]}"), name)


def __dir__() -> list[str]:
    return sorted(__all__)
