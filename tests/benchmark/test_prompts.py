"""Prompts change only with their version."""

from peercorpus.models import prompts


def test_other_words_are_another_version() -> None:
    # A change of wording makes results incomparable: raise VERSION, then write the new digest here.
    assert (prompts.VERSION, prompts.DIGEST) == ("2", "0aec79a48c9a")


def test_everything_that_is_told_is_in_the_digest() -> None:
    said = {name for name in vars(prompts) if name.isupper() and isinstance(getattr(prompts, name), str)}
    assert said - {"DIGEST"} == set(prompts.SAID)
