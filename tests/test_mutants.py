"""The list of planted faults follows the code: each replaces text that is there, and its tests exist."""

import pytest
from run_mutants import MUTANTS, ROOT, Mutant, read_mutants

LISTED = read_mutants(MUTANTS)


@pytest.mark.parametrize("mutant", LISTED, ids=lambda mutant: mutant.name)
def test_a_mutant_replaces_text_that_its_file_has_once(mutant: Mutant) -> None:
    assert (ROOT / mutant.file).read_text().count(mutant.old) == 1
    assert mutant.new != mutant.old


@pytest.mark.parametrize("mutant", LISTED, ids=lambda mutant: mutant.name)
def test_the_tests_of_a_mutant_exist(mutant: Mutant) -> None:
    for test in mutant.tests:
        path, _, function = test.partition("::")
        assert f"def {function}(" in (ROOT / path).read_text() if function else (ROOT / path).exists()
