"""An answer may come immediately: a delay of 0 hours is a valid delay, not a missing time."""

from invented_sources import Given, paper, talk
from naming import by_name
from peercorpus.report import review_statistics


def test_a_simultaneous_reply_has_a_delay_of_zero() -> None:
    turns = [*talk("a/1", "ra", (0, 0)), *talk("a/2", "ra", (0, 2)), *talk("a/3", "ra", (0, 4))]
    made = review_statistics.delays(Given(papers=[paper("a")], turns=turns))
    (row,) = made.table.filter(who_answers="authors", conference="iclr").iter_rows(named=True)
    assert (row["answers"], row["median_h"], row["lower_quartile_h"]) == (3, 2.0, 1.0)
    assert (made.n, by_name(made.unknown, "missing", "before")) == (3, {"missing": 0, "before": 0})


def test_replies_that_all_came_at_once_are_counted_and_stated() -> None:
    made = review_statistics.delays(Given(papers=[paper("a")], turns=talk("a/1", "rar", (0, 0, 0))))
    assert made.table.filter(conference="iclr")["answers"].to_list() == [1, 1]
    assert made.table.filter(conference="iclr")["median_h"].to_list() == [0.0, 0.0]
    assert made.n == 2
