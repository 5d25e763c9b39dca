"""Check what the benchmark is given before inspect_ai is imported, which takes seconds."""

import os
import socket
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import SplitResult, urlsplit
from urllib.request import getproxies, proxy_bypass

from peercorpus.errors import ModelError, ModelUnavailableError, PeercorpusError
from peercorpus.models.checkpoints import is_loaded_here

OPENAI_COMPATIBLE = "openai-api"
"""inspect_ai's provider for servers that speak OpenAI's protocol: `openai-api/SERVICE/MODEL`."""
PATIENCE_S = 10
"""Seconds to wait for a connection to a server."""
REASONS: Mapping[type[OSError], str] = {
    ConnectionRefusedError: "connection refused",
    TimeoutError: f"no answer within {PATIENCE_S} s",
    socket.gaierror: "no such host",
}
"""Why a server cannot be reached, by the kind of error."""


def check_log_folder(folder: Path) -> None:
    """Check that the folder of logs exists.

    Raises:
        PeercorpusError: It does not.
    """
    if not folder.is_dir():
        raise PeercorpusError(f"'{folder}' is not a folder; name the one that 'peercorpus bench' wrote its logs to.")


def check_log_file(path: Path) -> None:
    """Check that a log exists.

    Raises:
        PeercorpusError: It does not.
    """
    if not path.is_file():
        raise PeercorpusError(f"There is no log '{path}'; name one that 'peercorpus bench' or inspect_ai wrote.")


def check_needs_model(model: str | None, options: Mapping[str, object]) -> None:
    """Check that options which only apply to a model are not given without one, as they would be ignored.

    Args:
        model: The model, if one is named.
        options: The options' values by their names, such as `--model-url`; unset ones are None, False, 0 or empty.

    Raises:
        PeercorpusError: One is.
    """
    given = [name for name, value in options.items() if value]
    if model is None and given:
        raise PeercorpusError(f"{given[0]} applies only to a model; name one with --model, or leave out {given[0]}.")


@dataclass(frozen=True, slots=True)
class NamedModel:
    """A model as it is named on the command line.

    Attributes:
        option: The option that names it, such as `--grader`.
        name: The model: a folder, or `PROVIDER/MODEL`.
        url_option: The option with the URL of its server.
        url: The URL; None if the option is not given.
    """

    option: str
    name: str
    url_option: str
    url: str | None = None

    @property
    def is_compatible(self) -> bool:
        """Whether it is at a server that speaks OpenAI's protocol, and not at OpenAI."""
        return self.name.partition("/")[0] == OPENAI_COMPATIBLE

    @property
    def url_variable(self) -> str:
        """Environment variable with the URL of the service of an OpenAI-compatible model."""
        return f"{self.name.split('/')[1].upper().replace('-', '_')}_BASE_URL"

    def find_url(self) -> str | None:
        """Return the URL of the server: the option's, or that of the environment; None if neither is known."""
        if self.url is not None or not self.is_compatible:
            return self.url
        return os.environ.get(self.url_variable) or os.environ.get("INSPECT_EVAL_MODEL_BASE_URL")

    def advise(self) -> str:
        """Return how to name a model of one's own server."""
        url = self.url if self.url is not None and is_url(self.url) else "http://HOST:PORT/v1"
        model = self.name.rpartition("/")[2] or "MODEL"
        return f"for your own server: {self.option} {OPENAI_COMPATIBLE}/local/{model} {self.url_option} {url}"


def is_url(text: str) -> bool:
    """Return whether a text is a URL of a server, without a name or password.

    >>> is_url("http://127.0.0.1:8000/v1"), is_url("127.0.0.1:8000"), is_url("http://me:secret@host/v1")
    (True, False, False)
    """
    parts = _split_url(text)
    return parts is not None and "@" not in parts.netloc


def _split_url(text: str) -> SplitResult | None:
    """Return the parts of a URL of a server; None if it is not one."""
    try:
        parts = urlsplit(text)
        has_port = parts.port is None or parts.port > 0
    except ValueError:
        return None
    return parts if parts.scheme in {"http", "https"} and parts.hostname and has_port else None


def check_models(models: Iterable[NamedModel]) -> None:
    """Check the names and the servers of models, each server once.

    Raises:
        ModelError: A name or URL cannot be used.
        ModelUnavailableError: A server cannot be reached.
    """
    reached = set()
    for model in models:
        _check_name(model)
        url = model.find_url()
        if url is not None and url not in reached:
            _check_url(model, url)
            reached.add(url)


def _check_name(model: NamedModel) -> None:
    if is_loaded_here(model.name):
        return
    if "/" not in model.name:
        raise ModelError(
            f"'{model.name}' is neither a folder nor PROVIDER/MODEL; name one such as openai/gpt-4o, or"
            f" {model.advise()}"
        )
    if not model.is_compatible:
        return
    if model.name.count("/") < 2:
        raise ModelError(f"'{model.name}' lacks the name of its service or model; {model.advise()}")
    if model.find_url() is None:
        raise ModelError(
            f"No URL of the server of '{model.name}' is given: name it with {model.url_option} http://HOST:PORT/v1, or"
            f" set {model.url_variable}."
        )


def _check_url(model: NamedModel, url: str) -> None:
    parts = _split_url(url)
    if "@" in url:
        return  # Refused later, and not shown here.
    if parts is None:
        raise ModelError(f"'{url}' is not the URL of a server; {model.advise()}")
    host = str(parts.hostname)
    if parts.scheme in getproxies() and not proxy_bypass(host):
        return
    try:
        port = parts.port or (443 if parts.scheme == "https" else 80)
        socket.create_connection((host, port), timeout=PATIENCE_S).close()
    except OSError as error:
        reason = REASONS.get(type(error)) or (error.strerror or str(error)).lower()
        raise ModelUnavailableError(
            f"{url} cannot be reached ({reason}); start the server of '{model.name}', or correct {model.url_option}."
        ) from None
