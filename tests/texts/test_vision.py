"""The vision engine against an endpoint on loopback: what it sends, caches, rejects, and never discloses."""

import json
import logging
import struct
from collections.abc import Callable
from pathlib import Path

import httpx2
import pytest

from invented_pdfs import typeset
from model_endpoint import Reply, StandIn, completion, refusal, serving
from naming import Naming
from peercorpus.errors import ModelError
from peercorpus.texts import contract
from peercorpus.texts.engine import KEY_VARIABLE, SEPARATOR, EngineSettings, load_engine
from peercorpus.texts.engines.vision import PROMPT, Vision

PAGE = (
    "The gradient that arrives at the server was computed many updates ago, and that is what momentum does to it all."
)
OTHER = "Counting cells in blurred images needs no labels when every image holds the same number of them by its design."
INVENTED = (
    "A large language model writes fluent prose about something entirely different from what the page had printed."
)
MARKDOWN = f"# 1 Aims\n\n{PAGE}"
KEY = "sk-very-secret-1234"


def settings(
    stand: StandIn,
    *,
    max_pages: int = 100,
    timeout_s: float = 5.0,
    answers: Path | None = None,
) -> EngineSettings:
    return EngineSettings(
        url=stand.url, model="org/reader-7b", attempts=3, first_wait_s=0.01, run="r1",
        max_pages=max_pages, timeout_s=timeout_s, answers=answers,
    )  # fmt: skip


def test_each_page_is_requested_once() -> None:
    with serving(completion(f"```markdown\n{MARKDOWN}\n```"), completion(OTHER)) as stand:
        converted = Vision(settings(stand)).convert(typeset(PAGE, OTHER))
    assert converted.markdown.split(SEPARATOR) == [MARKDOWN, OTHER]
    assert (converted.problems, converted.ocr_pages) == ((), ())
    assert [heading.title for heading in converted.headings] == ["1 Aims"]
    assert stand.paths == ["/v1/chat/completions"] * 2
    assert {body["temperature"] for body in stand.bodies} == {0}
    assert stand.prompt(0).startswith(PROMPT)
    assert "momentum" in stand.prompt(0)
    width, height = struct.unpack(">II", stand.image(1)[16:24])
    assert (width, height) == (1241, 1754)


@pytest.mark.parametrize(
    "failing",
    [
        refusal(429, retry_after="0"),
        refusal(500),
        (200, {}, b"<html>down for repair</html>"),
        (200, {}, b'{"choices": []}'),
        completion(None),
    ],
)
def test_a_temporary_fault_is_retried(failing: Reply) -> None:
    with serving(failing, failing, completion(PAGE)) as stand:
        assert Vision(settings(stand)).convert(typeset(PAGE)).markdown == PAGE
    assert len(stand.bodies) == 3


def test_a_failing_page_has_our_own_text() -> None:
    good, bad = completion(OTHER), refusal(503)
    with serving(bad, bad, bad, good) as stand:
        converted = Vision(settings(stand)).convert(typeset(PAGE, OTHER))
    assert converted.markdown.split(SEPARATOR) == [PAGE, OTHER]
    assert converted.problems == (Naming("503", "page 1"),)


@pytest.mark.parametrize("reply", [refusal(413), completion(PAGE, finish="length")])
def test_a_refused_page_is_requested_once(reply: Reply) -> None:
    with serving(reply, completion(OTHER)) as stand:
        converted = Vision(settings(stand)).convert(typeset(PAGE, OTHER))
    assert len(stand.bodies) == 2
    assert converted.markdown.split(SEPARATOR)[0] == PAGE


@pytest.mark.slow
def test_an_unavailable_endpoint_ends_the_run(tmp_path: Path) -> None:
    answers = tmp_path / "answers.db"
    with serving(completion(PAGE), refusal(500)) as stand:
        engine = Vision(settings(stand, answers=answers))
        with pytest.raises(ModelError, match=r"3 pages.*500.*same command"):
            engine.convert(typeset(PAGE, OTHER, OTHER + " Two", OTHER + " Three"))
        asked = len(stand.bodies)
        assert engine.convert(typeset(PAGE)).markdown == PAGE
        assert len(stand.bodies) == asked


@pytest.mark.parametrize("said", [INVENTED, "", PAGE + " " + INVENTED, " ".join(reversed(PAGE.split()))])
def test_words_not_on_the_page_are_rejected(said: str) -> None:
    with serving(completion(said)) as stand:
        converted = Vision(settings(stand)).convert(typeset(PAGE))
    assert converted.markdown == PAGE
    assert converted.problems == (Naming("differ", "page 1"),)


def test_answers_are_kept_by_request(tmp_path: Path) -> None:
    with serving(completion(PAGE)) as stand:
        engine = Vision(settings(stand, answers=tmp_path / "folder" / "answers.db"))
        assert engine.convert(typeset(PAGE)) == engine.convert(typeset(PAGE))
        assert len(stand.bodies) == 1
        engine.convert(typeset(PAGE + "!"))
        assert len(stand.bodies) == 2


def test_a_budget_of_pages_ends_the_run(tmp_path: Path) -> None:
    with serving(completion(PAGE)) as stand:
        limited = settings(stand, max_pages=1, answers=tmp_path / "answers.db")
        Vision(limited).convert(typeset(PAGE))
        with pytest.raises(ModelError, match=r"questions: 1, tokens: 100.*larger budget"):
            Vision(limited).convert(typeset(PAGE + "!"))
        assert len(stand.bodies) == 1


def test_only_its_host_gets_key(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture, tmp_path: Path
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    caplog.set_level(logging.DEBUG)
    answers = tmp_path / "answers.db"
    with serving(completion(PAGE), refusal(401)) as stand:
        engine = Vision(settings(stand, answers=answers))
        converted = engine.convert(typeset(PAGE))
        with pytest.raises(ModelError, match=r"401.*PEERCORPUS_VISION_KEY") as refused:
            engine.convert(typeset(OTHER))
    assert stand.headers[0]["authorization"] == f"Bearer {KEY}"
    everything = [caplog.text, str(refused.value), repr(converted), engine.version, repr(settings(stand)), *stand.paths]
    assert not any(KEY in one for one in everything)
    assert not any(KEY.encode() in path.read_bytes() for path in tmp_path.iterdir())


@pytest.mark.parametrize(
    ("url", "model", "named"),
    [
        (None, "m", "'/v1'"),
        ("https://x.test/v1", None, "name"),
        ("ftp://x.test/v1", "m", "https://"),
        ("https://name:word@x.test/v1", "m", "password"),
        ("https://x.test/v1?key=1", "m", "https://"),
        ("http://x.test/v1", "m", r"x\.test.*https"),
    ],
)
def test_an_invalid_endpoint_is_refused_at_once(
    monkeypatch: pytest.MonkeyPatch, url: str | None, model: str | None, named: str
) -> None:
    monkeypatch.setenv(KEY_VARIABLE, KEY)
    with pytest.raises(ModelError, match=named) as raised:
        load_engine("vision", EngineSettings(url=url, model=model, run="r1"))
    assert KEY not in str(raised.value)


def test_a_wrong_address_or_model_ends_the_run() -> None:
    with (
        serving(refusal(404)) as stand,
        pytest.raises(ModelError, match=r"404.*address"),
    ):
        Vision(settings(stand)).convert(typeset(PAGE))


class Faithful(Vision):
    """An engine whose model sees exactly our text, so that the contract tests that every answer is accepted."""

    def __init__(self) -> None:
        super().__init__(EngineSettings(url="http://127.0.0.1:9/v1", model="m"), httpx2.MockTransport(_faithful))


def _faithful(request: httpx2.Request) -> httpx2.Response:
    prompt = json.loads(request.content)["messages"][0]["content"][0]["text"]
    said = prompt.removeprefix(PROMPT).replace("-\n", "").replace("\x00", "")
    return httpx2.Response(200, json={"choices": [{"message": {"content": said}}]})


@pytest.mark.parametrize("check", [contract.check_name_and_version, contract.check_bad_files, contract.check_storing])
def test_the_vision_engine_passes_the_engine_contract(check: Callable[[contract.Make], None]) -> None:
    check(Faithful)
