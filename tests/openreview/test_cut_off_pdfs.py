"""A truncated PDF: requested once more, and accepted only if it arrives unchanged or complete."""

import httpx2
import pytest

from peercorpus.errors import NotGivenError
from peercorpus.openreview.client import Client

WHOLE = b"%PDF-1.7\n" + b"A kite.\n" * 1_000 + b"%%EOF\n"
SHORT, SHORTER = WHOLE[:5_000], WHOLE[:3_000]


class Sending:
    """A service that sends these files in order, each as if it were complete."""

    def __init__(self, *files: bytes) -> None:
        self._files = iter(files)
        self.asked = 0

    def __call__(self, _: httpx2.Request) -> httpx2.Response:
        self.asked += 1
        return httpx2.Response(200, content=next(self._files))


def asked_for(service: Sending) -> bytes:
    with Client(transport=httpx2.MockTransport(service)) as client:
        return client.get_file(2, "/pdf", {"id": "a"})


@pytest.mark.fault(
    "service", "a PDF that comes cut off, each time elsewhere", "it is not taken; the next harvest asks again", times=3
)
@pytest.mark.parametrize("files", [(SHORT, SHORTER), (SHORTER, SHORT), (SHORT, b"<html>Bad gateway</html>")])
def test_a_pdf_cut_off_twice_at_different_lengths_is_not_taken(files: tuple[bytes, bytes]) -> None:
    service = Sending(*files)
    with pytest.raises(NotGivenError) as caught:
        asked_for(service)
    assert (caught.value.reason, service.asked) == ("cut off", 2)


@pytest.mark.parametrize(("files", "taken"), [((WHOLE,), WHOLE), ((SHORT, WHOLE), WHOLE), ((SHORT, SHORT), SHORT)])
def test_a_pdf_that_is_complete_or_the_same_twice_is_stored(files: tuple[bytes, ...], taken: bytes) -> None:
    service = Sending(*files)
    assert asked_for(service) == taken
    assert service.asked == len(files)
