from peercorpus.models.chat_messages import Message, Speaker
from peercorpus.release.exports.formats import ExportLayout, TrainingSample, render_sample


def test_a_message_is_a_pair() -> None:
    sample = TrainingSample([Message(Speaker.USER, ["Why kites?"], [])], {})
    assert render_sample(sample, ExportLayout.PAIRS) == {"pairs": [["user", "Why kites?"]]}
