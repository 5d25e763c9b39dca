"""Read how peercorpus was installed, so that advice names a command that works where it runs.

Installers record where a package came from in `direct_url.json` (PEP 610, *Recording the Direct URL Origin of installed
distributions*); a package from an index has no such file.
"""

from collections.abc import Mapping
from pathlib import Path

_NAME = "peercorpus"

Origin = Mapping[str, object]
"""Content of `direct_url.json`: `url`, and `dir_info` of a folder, `vcs_info` of a repository or `archive_info`."""


def advise_install(extra: str) -> str:
    """Return what to run to install an extra, and where, as the end of a sentence.

    >>> _advise(None, "[web]")
    "run: pip install 'peercorpus[web]'"
    >>> _advise({"url": "file:///gone/peercorpus", "dir_info": {"editable": True}}, "[web]")
    "run in a checkout of peercorpus: pip install -e '.[web]'"
    """
    return _advise(read_origin(), f"[{extra}]")


def advise_update() -> str:
    """Return what to run to get a newer version, and where, as the end of a sentence."""
    return _advise(read_origin(), "", is_update=True)


def read_origin() -> Origin | None:
    """Return where peercorpus was installed from; None if from an index.

    Code that runs from a checkout without being installed has the checkout as its origin.
    """
    # Imported here and below, as every command imports this module and few fail for want of a package.
    import json
    from importlib.metadata import PackageNotFoundError, distribution

    try:
        text = distribution(_NAME).read_text("direct_url.json")
    except PackageNotFoundError:
        checkout = Path(__file__).parents[2]
        return {"url": checkout.as_uri(), "dir_info": {}} if (checkout / "pyproject.toml").is_file() else None
    origin = None if text is None else json.loads(text)
    return origin if isinstance(origin, dict) else None


def _advise(origin: Origin | None, extras: str, *, is_update: bool = False) -> str:
    from shlex import quote
    from urllib.parse import urlsplit
    from urllib.request import url2pathname

    newer = "--upgrade " if is_update else ""
    if origin is None:
        return f"run: pip install {newer}{quote(_NAME + extras)}"
    if "dir_info" not in origin:
        return f"run: pip install {newer}{quote(f'{_NAME}{extras} @ {_to_requirement(origin)}')}"
    folder = Path(url2pathname(urlsplit(str(origin["url"])).path))
    where = f"'{folder}'" if (folder / "pyproject.toml").is_file() else f"a checkout of {_NAME}"
    details = origin["dir_info"]
    option = "-e " if isinstance(details, dict) and details.get("editable") else ""
    pull = "git pull && " if is_update else ""
    return f"run in {where}: {pull}pip install {option}{quote('.' + extras) if extras else '.'}"


def _to_requirement(origin: Origin) -> str:
    """Return the URL of an archive or a repository as a requirement names it.

    >>> repository = {"vcs": "git", "requested_revision": "v1", "commit_id": "4f42"}
    >>> _to_requirement({"url": "https://example.org/peercorpus.git", "vcs_info": repository})
    'git+https://example.org/peercorpus.git@v1'
    """
    url, repository = origin["url"], origin.get("vcs_info")
    if not isinstance(repository, dict):
        return str(url)
    revision = repository.get("requested_revision")
    return f"{repository['vcs']}+{url}" + (f"@{revision}" if revision else "")
