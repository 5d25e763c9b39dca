"""What many papers have in common tells nothing, and what few have does."""

from peercorpus.links.telling import FEWEST, Telling


def test_what_no_more_have_than_a_work_may_have_tries_always_tells() -> None:
    papers = [["rare", "own"]] * FEWEST + [["often"]] * (FEWEST + 1)
    assert Telling(papers).of(["rare", "own", "often", "never"]) == {"rare", "own", "never"}


def test_of_many_papers_a_share_may_have_it() -> None:
    papers = [[f"own {number}", "all", *(["some"] if number % 200 == 0 else [])] for number in range(2_000)]
    telling = Telling(papers)
    assert telling.of(["all", "some", "own 7"]) == {"some", "own 7"}
    assert Telling(papers, most_share=0.001).of(["all", "some", "own 7"]) == {"own 7"}
