from peercorpus.metrics import definition


def test_half_of_the_rejects_are_found() -> None:
    assert definition("reject_recall").function([True, False], [False, False]) == 0.5
