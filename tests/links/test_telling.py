"""Text that many papers share is no evidence, and text that few share is."""

from peercorpus.links.similarity import RareTerms


def test_a_phrase_of_few_papers_is_always_distinctive() -> None:
    papers = [["rare", "own"]] * 6 + [["often"]] * 7
    assert RareTerms(papers).of(["rare", "own", "often", "never"]) == {"rare", "own", "never"}


def test_a_phrase_may_occur_in_a_share_of_many_papers() -> None:
    papers = [[f"own {number}", "all", *(["some"] if number % 200 == 0 else [])] for number in range(2_000)]
    telling = RareTerms(papers)
    assert telling.of(["all", "some", "own 7"]) == {"some", "own 7"}
    assert RareTerms(papers, most_share=0.001).of(["all", "some", "own 7"]) == {"own 7"}
