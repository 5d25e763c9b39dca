"""The licence of a reply and its writer's consent to publication, in many wordings."""

import json
from pathlib import Path
from typing import Any

import pytest

from raw_forums import PAPER, Normalised, v1, v2

OURS = "I agree to publish my review under CC BY 4.0"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("field", "answer", "licence", "consent"),
    [
        ("license", "CC BY 4.0", "CC BY 4.0", None),
        ("Licence", "CC0", "CC0", None),
        ("review_license", "Creative Commons Attribution 4.0", "Creative Commons Attribution 4.0", None),
        (
            "license",
            "https://creativecommons.org/licenses/by/4.0/",
            "https://creativecommons.org/licenses/by/4.0/",
            None,
        ),
        ("license", OURS, None, OURS),
        ("license", "I agree", None, "I agree"),
        ("license", "No, I do not transfer the license", None, "No, I do not transfer the license"),
        ("license", "The data set has no licence, which hurts.", None, None),
        ("license_of_the_data", "CC BY 4.0", None, None),
        ("consent", "Yes", None, "Yes"),
        ("publication_consent", "No", None, "No"),
        ("publication_consent", True, None, "true"),
        ("review_publication_consent", ["Yes"], None, "Yes"),
        ("consent_to_publish_review", "I consent.", None, "I consent."),
        ("consent_for_data_collection", "Yes", None, "Yes"),
        ("I agree to publish my review", "Yes", None, "Yes"),
        ("agree_to_share_review", False, None, "false"),
        ("reviewer_license_agreement", "On behalf of myself, I agree", None, "On behalf of myself, I agree"),
        ("agreement", OURS, None, OURS),
        (
            "acknowledgement",
            ["I do not consent to the release of my review"],
            None,
            "I do not consent to the release of my review",
        ),
        ("code_of_conduct", "Yes, I agree to abide by the code of conduct", None, None),
        ("informed_consent", "Yes", None, None),
        ("participant_consent", "Yes", None, None),
        ("comment", OURS, None, None),
        ("weaknesses", "I agree that reviews should say so", None, None),
        ("notes", "I agree with the other reviews.", None, None),
        ("consent", "", None, None),
    ],
)
@pytest.mark.parametrize("api", [1, 2])
def test_licence_wordings_are_recognised(
    tmp_path: Path, field: str, answer: Any, licence: str | None, consent: str | None, api: int
) -> None:
    content = {"review": "They fly.", field: answer}
    note = v2("r", "Official_Review", "Reviewer_A1bC", content=content)
    root = PAPER
    if api == 1:
        note, root = v1("r", "Paper1/Official_Review", "AnonReviewer1", content=content), v1("paper", "Submission")
    done = Normalised(tmp_path / "corpus", [root, note])
    (review,) = done.reviews
    assert (review.licence, review.consent) == (licence, consent)
    assert (done.posts["r"].licence, done.posts["r"].consent) == (licence, consent)
    if licence or consent:
        assert json.loads(review.extra) == {field: answer}
        assert [section.field for section in review.sections] == ["review"]


def test_note_and_form_state_the_licence(tmp_path: Path) -> None:
    content = {"license": OURS, "consent": "Yes", "review": "They fly."}
    notes = [PAPER, v2("r", "Official_Review", "Reviewer_A1bC", content=content) | {"license": "CC BY 4.0"}]
    notes.append(v2("c", "Official_Comment", "Authors", content={"comment": "Thanks."}) | {"license": "CC BY-SA 4.0"})
    done = Normalised(tmp_path / "corpus", notes)
    assert done.reviews[0].licence == "CC BY 4.0"
    assert done.reviews[0].consent == f"### license\n\n{OURS}\n\n### consent\n\nYes"
    assert (done.posts["c"].licence, done.posts["c"].consent) == ("CC BY-SA 4.0", None)
