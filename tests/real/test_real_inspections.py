"""What recorded PDFs reveal about themselves, compared with what each is known to be.

The right answers were read in the files and their manifest, not taken from what the code made of them.
"""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest

from peercorpus.records.documents import Inspection
from peercorpus.records.enums import FileSays
from peercorpus.venues.catalogue import row_of
from peercorpus.versions.inspect import INSPECTOR, inspect_file
from peercorpus.versions.version_signs import infer_version

DATA = Path(__file__).parents[3] / "shared" / "data"
PAIRS, BENCH = DATA / "pdf-initial-final", DATA / "pdf-bench"
pytestmark = [
    pytest.mark.real,
    pytest.mark.skipif(not DATA.is_dir(), reason="the recorded data is not beside this checkout, in ../shared/data"),
]
S, F, N = FileSays.SUBMITTED, FileSays.FINAL, FileSays.NOTHING

WHY = {
    "iclr_2018__B13EC5u6W": "Rejected: the last revision is laid out as the first, and was made in January 2018.",
    "iclr_2021__-5W5OBfFlwX": "Rejected: the last revision is laid out as the first, and was made in November 2020.",
    "iclr_2021__-6vS_4Kfz0": "Accepted: the running head says published, and authors are named.",
    "iclr_2022__-70L8lpp9DF": "Accepted: the running head says published, and authors are named.",
}

TELLING: dict[str, tuple[FileSays, str]] = {
    "acl_semeval__fin": (F, "Final style: authors with addresses, no notice."),
    "acl_semeval__sub": (S, "'Anonymous ACL submission', line numbers."),
    "acl_unlearn__fin": (F, "Final style: authors with addresses, and whom they thank."),
    "acl_unlearn__sub": (S, "'Anonymous ACL submission', line numbers; the thanks were left in."),
    "ais_adaptive_dua__orig": (S, "Review style: 'Paper under double-blind review', though nobody submitted it."),
    "ais_grid_based_n__orig": (S, "The same."),
    "ais_layerwise_lr__orig": (S, "The same."),
    "ais_multi_style___orig": (S, "The same."),
    "ais_rl_lr_adapta__orig": (S, "The same."),
    "arxiv_1706_03762__asis": (F, "The notice of NIPS 2017, and authors with addresses."),
    "iclr21_l2hmc__orig": (F, "'Published as a conference paper at ICLR 2021'."),
    "iclr21_l2hmc__sub": (S, "'Under review as a conference paper at ICLR 2021'; thanks and code were left in."),
    "iclr21_maexp__orig": (S, "'Under review as a conference paper at ICLR 2021'."),
    "iclr25_mjbench2__orig": (S, "'Under review as a conference paper at ICLR 2025'; the template's own thanks."),
    "icml19_sieo__fin": (F, "'Proceedings of the 36 th …', 'Copyright 2019 by the author(s)'."),
    "icml19_sieo__sub": (S, "'Preliminary work. Under review by …'."),
    "icml20_multiscale__orig": (N, "A seminar paper on the style of ICML, without its notice: for no venue."),
    "icml20_multiscale__sub": (S, "Anonymous authors, line numbers."),
    "icml21_secform__orig": (S, "'Preliminary work. Under review by …'."),
    "icml25_bayes__orig": (F, "'Proceedings of the 43 rd …'."),
    "icml25_bayes__sub": (S, "'Preliminary work. Under review by …'; the thanks were left in."),
    "icml25_hash__orig": (F, "The template in its accepted form: 'Proceedings of …'."),
    "icml25_hash__sub": (S, "The template in its review form."),
    "nips23_brain__orig": (N, "'Preprint. Under review.' with names: no submission to a blind venue, and none final."),
    "nips23_brain__sub": (S, "'Submitted to 37th … Do not distribute.'"),
    "nips23_receptive__orig": (N, "'Preprint. Under review.' with names."),
    "nips23_receptive__sub": (S, "'Submitted to 37th … Do not distribute.'"),
    "nips24_bci__fin": (F, "The notice of NeurIPS 2024 without 'Submitted to', and names."),
    "nips24_bci__sub": (S, "'Submitted to 38th … Do not distribute.'"),
    "nips24_beta__orig": (F, "The notice of NeurIPS 2024 without 'Submitted to', names, thanks."),
    "nips24_beta__sub": (S, "'Submitted to 38th … Do not distribute.'; the link to the code was left in."),
    "nips25_bias__orig": (F, "A workshop's own notice, names, thanks."),
    "nips25_bias__sub": (F, "Its style has no review form: not one word of page 1 differs from `orig`."),
    "nips25_convex__orig": (F, "Names with addresses, thanks, no notice: later than anything anonymous."),
    "nips25_convex__sub": (S, "'Submitted to 39th … Do not distribute.'"),
    "nips25_jackhan__orig": (S, "'Submitted to 39th … Do not distribute.'"),
    "nips25_jackhan__sub": (S, "The same."),
}
SILENT = {"acl_semeval__fin"}
"""Where the right answer is not found: an address is all there is, and open reviewing has it in submissions as well."""


def inspection(path: Path) -> Inspection:
    looked = inspect_file(path.read_bytes())
    found = (looked.pages, looked.made_at, looked.changed_at, looked.producer, looked.signs, looked.problems)
    return Inspection(path.stem, "f", "v", *found, INSPECTOR)


def _limits(folder: str) -> list[datetime]:
    """When the first review of a paper was written, as recorded beside its files; and its deadline, if that is known.

    The deadlines that held at ICLR 2018 and 2021 are not known.
    """
    reviews = json.loads((PAIRS / folder / "metadata.json").read_text(encoding="utf-8"))["reviews"]
    first = datetime.fromtimestamp(min(review["tcdate"] for review in reviews) / 1000, UTC)
    conference, _, year = folder.partition("__")[0].partition("_")
    row = row_of(f"{conference.upper()}.cc/{year}/Conference")
    return [first, row.full_deadline.at] if row and row.full_deadline else [first]


@pytest.mark.parametrize("folder", WHY)
def test_initial_and_final_files_are_distinguished(folder: str) -> None:
    for limit in _limits(folder):
        said = {
            name: infer_version(inspection(PAIRS / folder / f"{name}.pdf"), limit)[0] for name in ("initial", "final")
        }
        assert said == {"initial": S, "final": F}, WHY[folder]


def test_one_recorded_pair_has_a_deadline() -> None:
    assert {folder for folder in WHY if len(_limits(folder)) == 2} == {"iclr_2022__-70L8lpp9DF"}


def test_every_pair_has_a_verdict() -> None:
    assert {path.parent.name for path in PAIRS.glob("*/final.pdf")} == set(WHY)


@pytest.mark.parametrize("folder", ["iclr_2018__B13EC5u6W", "iclr_2021__-5W5OBfFlwX"])
def test_a_rejected_revision_reads_as_submitted(folder: str) -> None:
    assert infer_version(inspection(PAIRS / folder / "final.pdf"), None)[0] is S


@pytest.mark.slow
def test_no_file_of_the_benchmark_is_misclassified() -> None:
    keys = [entry["key"] for entry in json.loads((BENCH / "manifest.json").read_text(encoding="utf-8"))]
    assert set(keys) == set(TELLING)
    said = {key: infer_version(inspection(BENCH / "pdf" / f"{key}.pdf"), None)[0] for key in keys}
    right = {key for key in keys if said[key] is TELLING[key][0]}
    assert {key for key in keys if key not in right and said[key] is not N} == set()
    assert set(keys) - right == SILENT
    assert (len(right), len(keys)) == (36, 37)


@pytest.mark.slow
def test_no_authors_name_is_stored() -> None:
    for path in sorted([*PAIRS.glob("*/*.pdf"), *BENCH.glob("pdf/*.pdf")]):
        words = " ".join(sign.words for sign in inspection(path).signs)
        assert "@" not in words
        assert "Papernot" not in words
        assert "github.com" not in words
