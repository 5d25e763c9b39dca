"""Cassettes: a recorded harvest gives another workspace the same tables, whole, in parts, and in any order."""

import hashlib
import random
import secrets
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import msgspec
import pytest
import zstandard

from commands import Run, assert_refused
from in_this_process import build_here
from peercorpus.errors import DumpError, SignInError
from peercorpus.execution.progress import Progress
from peercorpus.harvest.harvest import harvest
from peercorpus.harvest.import_cassettes import import_cassettes
from peercorpus.openreview.cassette import (
    HEADER,
    CassetteWriter,
    Damage,
    Frame,
    RecordedHarvest,
    read_body,
    read_head,
    scan,
)
from peercorpus.openreview.client import Client
from peercorpus.openreview.retries import Patience
from peercorpus.pipeline.status import read_status
from peercorpus.simulator.server.service import Service, serve_simulator
from peercorpus.simulator.world.world import build_world
from peercorpus.workspace.raw_store import RawKind
from peercorpus.workspace.workspace import Workspace, open_workspace

V1, V2 = "Aurora.cc/2020/Conference", "Borealis.cc/2024/Conference"
HASTY = Patience(attempts=2, first_wait_s=0.001, longest_wait_s=1.5, pauses_s=())
TABLES = ("1-papers", "2-reviews", "3-posts", "4-versions", "6-conversations", "set-aside")


@pytest.fixture(scope="module", autouse=True)
def _one_key() -> Iterator[None]:
    """Make pseudonyms the same in every workspace."""
    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(secrets, "token_bytes", bytes)
        yield


@pytest.fixture(scope="module")
def service() -> Iterator[Service]:
    with serve_simulator(build_world(papers=5, venues=[V1, V2])) as running:
        yield running


class Recorded:
    """A direct harvest of both venues: the cassette it wrote, and what it stored."""

    def __init__(self, service: Service, folder: Path) -> None:
        self.path = folder / "whole.cassette"
        with open_workspace(folder / "direct", create=True) as workspace:
            record(service, workspace, self.path, [V1, V2])
            build_here(workspace)
            self.tables, self.raw = tables(workspace), raw(workspace)


@pytest.fixture(scope="module")
def recorded(service: Service, tmp_path_factory: pytest.TempPathFactory) -> Recorded:
    return Recorded(service, tmp_path_factory.mktemp("recorded"))


def record(service: Service, workspace: Workspace, path: Path, venues: list[str], **options: Any) -> None:
    urls = service.base_url_v1, service.base_url_v2
    with CassetteWriter(path) as writer, Client(*urls, patience=HASTY, recorder=writer) as client:
        client.record_harvests(venues, options.get("limit"), files=options.get("files", True))
        harvest(workspace, client, venues, **options)


def tables(workspace: Workspace) -> dict[str, str]:
    """Digests of every table of each venue."""
    return {f"{venue} {name}": workspace.tables.digest(name, venue) for venue in (V1, V2) for name in TABLES}


def raw(workspace: Workspace) -> dict[str, str]:
    """Return digests of what is stored as received."""
    found = {f"{venue} {kind}": workspace.raw.digest(kind, venue) for venue in (V1, V2) for kind in RawKind}
    return found | {f"{venue} files": workspace.raw.state.files_digest(venue) for venue in (V1, V2)}


def entries(path: Path) -> list[bytes]:
    """The entries of a cassette, each with the line before it."""
    content = path.read_bytes()
    frames = [part for part in scan(content) if isinstance(part, Frame)]
    starts = [content.rindex(b"entry ", 0, frame.start) for frame in frames]
    return [content[start : frame.start + frame.packed + 1] for start, frame in zip(starts, frames, strict=True)]


def write(path: Path, parts: list[bytes]) -> Path:
    path.write_bytes(HEADER + b"".join(parts))
    return path


def test_a_cassette_gives_the_same_records_and_tables(recorded: Recorded, workspace: Workspace) -> None:
    found = import_cassettes(workspace, [recorded.path])
    assert [(venue.venue_id, venue.missing, venue.problem) for venue in found.venues] == [(V1, 0, None), (V2, 0, None)]
    assert raw(workspace) == recorded.raw
    build_here(workspace)
    assert tables(workspace) == recorded.tables
    assert len(recorded.tables) == 2 * len(TABLES)
    assert read_status(workspace).holds


def test_two_half_cassettes_in_any_order_with_duplicates_give_the_whole_harvest(
    recorded: Recorded, workspace: Workspace, tmp_path: Path
) -> None:
    parts = entries(recorded.path)
    random.Random(7).shuffle(parts)
    half, third = len(parts) // 2, len(parts) // 3
    paths = [write(tmp_path / "a", parts[:half]), write(tmp_path / "b", parts[third:])]
    import_cassettes(workspace, paths)
    assert raw(workspace) == recorded.raw


def test_two_half_cassettes_concatenated_give_the_whole_harvest(
    recorded: Recorded, workspace: Workspace, tmp_path: Path
) -> None:
    parts = entries(recorded.path)
    half = len(parts) // 2
    joined = tmp_path / "joined"
    joined.write_bytes(b"".join(write(tmp_path / "x", some).read_bytes() for some in (parts[half:], parts[:half])))
    assert all(venue.is_complete for venue in import_cassettes(workspace, [joined]).venues)
    assert raw(workspace) == recorded.raw


class Stopper:
    """Interrupts a harvest after a number of steps."""

    def __init__(self, steps: int) -> None:
        self.left = steps

    def __call__(self, _: Progress) -> None:
        self.left -= 1
        if self.left == 0:
            raise KeyboardInterrupt


@pytest.mark.parametrize("steps", [1, 9, 25])
def test_cassettes_of_an_interrupted_harvest_and_of_its_rest_give_the_whole_harvest(
    steps: int, service: Service, recorded: Recorded, workspace: Workspace, tmp_path: Path
) -> None:
    first, rest = tmp_path / "first", tmp_path / "rest"
    with open_workspace(tmp_path / "recording", create=True) as recording:
        with pytest.raises(KeyboardInterrupt):
            record(service, recording, first, [V1, V2], progress=Stopper(steps))
        record(service, recording, rest, [V1, V2])
    import_cassettes(workspace, [rest, first])
    assert raw(workspace) == recorded.raw


def test_cassettes_of_venues_and_of_files_give_the_whole_harvest(
    service: Service, recorded: Recorded, workspace: Workspace, tmp_path: Path
) -> None:
    paths = [tmp_path / name for name in ("one", "notes", "files")]
    with open_workspace(tmp_path / "recording", create=True) as recording:
        record(service, recording, paths[0], [V1])
        record(service, recording, paths[1], [V2], files=False)
        record(service, recording, paths[2], [V2])
    import_cassettes(workspace, paths[:2])
    assert raw(workspace)[f"{V2} note"] == recorded.raw[f"{V2} note"]
    assert raw(workspace)[f"{V2} files"] != recorded.raw[f"{V2} files"]
    import_cassettes(workspace, paths[1:])
    assert raw(workspace) == recorded.raw


def test_a_cassette_of_a_limited_harvest_gives_its_records(
    service: Service, workspace: Workspace, tmp_path: Path
) -> None:
    with open_workspace(tmp_path / "recording", create=True) as recording:
        record(service, recording, tmp_path / "few", [V2], limit=1)
        (venue,) = import_cassettes(workspace, [tmp_path / "few"]).venues
        assert raw(workspace) == raw(recording)
    assert venue.missing == 0
    assert not venue.is_complete


def heads(path: Path) -> list[tuple[Any, bytes]]:
    content = path.read_bytes()
    frames = [part for part in scan(content) if isinstance(part, Frame)]
    packed = [(memoryview(content)[frame.start : frame.start + frame.packed], frame.unpacked) for frame in frames]
    return [(read_head(view), read_body(view, size)) for view, size in packed]


def test_missing_responses_are_named_and_can_be_added_from_another_cassette(
    recorded: Recorded, run: Run, tmp_path: Path
) -> None:
    kept: list[bytes] = []
    lacking: list[bytes] = []
    for (head, _), entry in zip(heads(recorded.path), entries(recorded.path), strict=True):
        (lacking if head.content_type == "application/pdf" else kept).append(entry)
    partial = write(tmp_path / "partial", kept)
    ended = run("import", partial, "--workspace", tmp_path / "corpus")
    assert ended.code == 1
    assert f"{V2} is not complete" in ended.out
    assert "missing: GET http" in ended.out
    assert "/pdf?" in ended.out
    rest = write(tmp_path / "rest", lacking)
    assert run("import", partial, rest, "--workspace", tmp_path / "corpus").code == 0
    with open_workspace(tmp_path / "corpus") as workspace:
        assert raw(workspace) == recorded.raw


def test_a_listing_that_lacks_a_page_is_not_complete(recorded: Recorded, run: Run, tmp_path: Path) -> None:
    kept = [
        entry
        for (head, _), entry in zip(heads(recorded.path), entries(recorded.path), strict=True)
        if not ("details=replies" in head.url and V2.split("/")[0] in head.url)
    ]
    ended = run("import", write(tmp_path / "part", kept), "--workspace", tmp_path / "corpus")
    assert ended.code == 1
    assert f"{V2} is not complete" in ended.out
    assert f"{V1} (API v1)" in ended.out
    assert run("import", recorded.path, "--workspace", tmp_path / "corpus").code == 0
    with open_workspace(tmp_path / "corpus") as workspace:
        assert raw(workspace) == recorded.raw


def test_a_second_import_changes_nothing(recorded: Recorded, workspace: Workspace) -> None:
    import_cassettes(workspace, [recorded.path])
    again = import_cassettes(workspace, [recorded.path])
    assert [(venue.is_complete, venue.summary and venue.summary.came) for venue in again.venues] == [(True, 0)] * 2
    assert raw(workspace) == recorded.raw


def test_the_command_records_and_imports(service: Service, run: Run, tmp_path: Path) -> None:
    urls = ["--url-v1", service.base_url_v1, "--url-v2", service.base_url_v2]
    cassette = tmp_path / "a.cassette"
    assert run("harvest", V2, "-w", tmp_path / "a", "--no-files", "--record", cassette, *urls).code == 0
    assert all(head.content_type != "application/pdf" for head, _ in heads(cassette))
    ended = run("import", cassette, "-w", tmp_path / "b")
    assert (ended.code, ended.err) == (0, "") or "listing" in ended.err
    assert f"{V2} (API v2): " in ended.out
    refused = run("harvest", V2, "-w", tmp_path / "a", "--plan", "--record", cassette, *urls)
    assert_refused(refused, "--plan", "--record")


def test_nothing_is_recorded_for_a_signed_in_account(
    service: Service, run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("PEERCORPUS_TOKEN", "aaaa.bbbb.cccc")
    urls = ["--url-v1", service.base_url_v1, "--url-v2", service.base_url_v2]
    ended = run("harvest", V2, "-w", tmp_path / "a", "--record", tmp_path / "a.cassette", *urls)
    assert_refused(ended, "guest", "--record")
    assert not (tmp_path / "a.cassette").exists()
    with CassetteWriter(tmp_path / "b") as writer, pytest.raises(SignInError, match="guest"):
        Client(account="aaaa.bbbb.cccc", recorder=writer)


def test_an_address_with_a_password_is_not_recorded(tmp_path: Path) -> None:
    with CassetteWriter(tmp_path / "b") as writer, pytest.raises(SignInError, match="a password"):
        Client("https://ada:secret@example.org", recorder=writer)


def test_an_entry_has_exactly_the_documented_members(recorded: Recorded) -> None:
    found = heads(recorded.path)
    assert {head.method for head, _ in found} == {"GET", "POST"}
    assert {head.status for head, _ in found} <= {0, 200, 400, 403, 404}
    members = {name for head, _ in found for name in msgspec.to_builtins(head)}
    assert members == {"at", "method", "url", "status", "content_type", "request", "harvest"}
    for head, _ in found:
        text = msgspec.json.encode(head).decode().lower()
        assert not any(secret in text for secret in ("cookie", "authorization", "bearer", "token", "password"))


@pytest.mark.fault(
    "input",
    "a cassette of another format, without content, of false lengths or hashes",
    "one sentence that names the file",
    times=6,
)
@pytest.mark.parametrize(
    ("content", "named"),
    [
        (HEADER.replace(b"1}", b"2}"), "format 2"),
        (HEADER, "no harvested venue"),
        (HEADER + b"anything else", "no entry begins here"),
        (HEADER + b"entry 40 9999999999 " + b"0" * 64 + b"\n" + b"x" * 41, "9,999,999,999 bytes"),
        (HEADER + b"entry 4 5 " + b"0" * 64 + b"\nxxxx\n", "its hash does not match"),
        (HEADER + b"entry 4000 5 " + b"0" * 64 + b"\nxxxx\n", "cut off"),
    ],
)
def test_a_damaged_cassette_is_refused_in_one_sentence(content: bytes, named: str, run: Run, tmp_path: Path) -> None:
    path = tmp_path / "odd"
    path.write_bytes(content)
    assert_refused(run("import", path, "--workspace", tmp_path / "corpus"), "'odd'", named)


@pytest.mark.parametrize("content", [b"not a cassette\n", b"%PDF-1.7", HEADER.replace(b"1}", b"7}")])
def test_a_recording_never_overwrites_another_file(content: bytes, tmp_path: Path) -> None:
    path = tmp_path / "other"
    path.write_bytes(content)
    with pytest.raises(DumpError, match="other"):
        CassetteWriter(path)
    assert path.read_bytes() == content


def test_two_runs_do_not_record_into_one_file(tmp_path: Path) -> None:
    with CassetteWriter(tmp_path / "one"), pytest.raises(DumpError, match="another run"):
        CassetteWriter(tmp_path / "one")


HARVEST = RecordedHarvest(V2, "http://127.0.0.1:1", "http://127.0.0.1:2")


def test_a_cassette_cut_off_anywhere_is_read_up_to_the_cut_and_can_be_continued(tmp_path: Path) -> None:
    path = tmp_path / "whole"
    for _ in range(3):
        with CassetteWriter(path) as writer:
            writer.begin(HARVEST)
    content = path.read_bytes()
    ends = [frame.start + frame.packed + 1 for frame in scan(content) if isinstance(frame, Frame)]
    assert ends[-1] == len(content)
    for size in range(len(content)):
        path.write_bytes(content[:size])
        with CassetteWriter(path) as writer:
            writer.begin(HARVEST)
        parts = list(scan(path.read_bytes()))
        assert not any(isinstance(part, Damage) for part in parts)
        assert len([part for part in parts if isinstance(part, Frame)]) == 1 + sum(end <= size for end in ends)


def test_a_changed_byte_invalidates_only_its_entry(recorded: Recorded) -> None:
    parts = entries(recorded.path)
    content = HEADER + b"".join(parts)
    chance = random.Random(3)
    for _ in range(30):
        place = chance.randrange(len(HEADER), len(content))
        changed = bytearray(content)
        changed[place] ^= chance.randrange(1, 256)
        found = list(scan(bytes(changed)))
        frames = [part for part in found if isinstance(part, Frame)]
        damage = [part for part in found if isinstance(part, Damage)]
        assert len(frames) == len(parts) - 1
        assert any(part.start <= place < part.end for part in damage)


def test_a_damaged_entry_is_set_aside_and_the_rest_is_imported(recorded: Recorded, run: Run, tmp_path: Path) -> None:
    parts = entries(recorded.path)
    urls = [head.url for head, _ in heads(recorded.path)]
    pdf = next(number for number, url in enumerate(urls) if "/pdf?" in url and urls.count(url) == 1)
    bad = parts[pdf][:-40] + bytes(39) + b"\n"
    path = write(tmp_path / "bad", [*parts[:pdf], bad, *parts[pdf + 1 :]])
    ended = run("import", path, "--workspace", tmp_path / "corpus")
    assert ended.code == 1
    assert "its hash does not match" in ended.out
    assert f"missing: GET {urls[pdf]}" in ended.out


def entry_of(content: bytes, unpacked: int | None = None, *, sized: bool = True) -> bytes:
    """An entry with a correct hash, whatever its content."""
    packed = zstandard.ZstdCompressor(write_content_size=sized).compress(content)
    digest = hashlib.sha256(packed).hexdigest()
    return f"entry {len(packed)} {unpacked or len(content)} {digest}\n".encode() + packed + b"\n"


@pytest.mark.fault(
    "input",
    "an entry of a cassette that unpacks to more than it says, or has no head",
    "it is set aside without being unpacked",
    times=6,
    lost="that entry",
)
@pytest.mark.parametrize(
    "entry",
    [
        entry_of(bytes(50_000_000)),
        entry_of(bytes(50_000_000), 1_000),
        entry_of(bytes(50_000_000), 1_000, sized=False),
        entry_of(b"{}\n"),
        entry_of(b"no head at all"),
        entry_of(b'{"at":1}\n'),
    ],
)
def test_a_hostile_entry_is_set_aside_without_being_unpacked(entry: bytes, recorded: Recorded, tmp_path: Path) -> None:
    path = tmp_path / "hostile"
    shutil.copy(recorded.path, path)
    with path.open("ab") as file:
        file.write(entry)
    with open_workspace(tmp_path / "corpus", create=True) as workspace:
        found = import_cassettes(workspace, [path])
        assert raw(workspace) == recorded.raw
    assert len(found.damage) == 1
    assert not found.is_complete
