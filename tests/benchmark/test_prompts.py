"""Prompts change only with their version."""

from peercorpus.models import prompts


def test_a_changed_prompt_has_another_version() -> None:
    # A change of wording makes results incomparable: raise VERSION, then write the new digest here.
    assert (prompts.VERSION, prompts.DIGEST) == ("3", "73a2ecb34f32")


def test_the_digest_covers_the_whole_prompt() -> None:
    said = {name for name in vars(prompts) if name.isupper() and isinstance(getattr(prompts, name), str)}
    assert said - {"DIGEST"} == set(prompts.SAID)
