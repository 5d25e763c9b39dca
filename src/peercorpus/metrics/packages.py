"""The packages that metrics lean on: which version is installed, and what brings one that is not."""

from importlib.metadata import PackageNotFoundError, version

from peercorpus.errors import MissingExtraError

EXTRAS = {
    "nltk": "bench",
    "rapidfuzz": "bench",
    "rouge_score": "bench",
    "sacrebleu": "bench",
    "sentence_transformers": "neural",
    "tokenizers": "neural",
    "torch": "neural",
    "transformers": "neural",
}
"""The extra that brings each package, by the name under which it is imported."""


def missing(error: ModuleNotFoundError) -> MissingExtraError:
    """What to tell the user of a package that is not installed; any other module that is missing is raised."""
    package = (error.name or "").partition(".")[0]
    if package not in EXTRAS:
        raise error
    return MissingExtraError(package.replace("_", "-"), EXTRAS[package])


def pinned(*packages: str) -> str:
    """Packages with their versions as a signature names them: `rouge-score:0.1.2|peercorpus:0.1.0`.

    Raises:
        MissingExtraError: One is not installed.
    """
    try:
        return "|".join(f"{package}:{version(package)}" for package in packages)
    except PackageNotFoundError as error:
        package = str(error.name)
        extra = EXTRAS.get(package.replace("-", "_"))
        if extra is None:
            raise
        raise MissingExtraError(package, extra) from None
