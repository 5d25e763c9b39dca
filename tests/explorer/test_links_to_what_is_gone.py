"""The page of a paper whose other submission is taken down does not mention that one."""

from pathlib import Path

from explored import explored
from invented_tables import ICLR, ICML, TMLR, link, paper

FIRST, SECOND, THIRD = "First001", "Second02", "Third003"


def tries() -> dict[str, list[object]]:
    """One work at three venues, with all submissions linked to each other."""
    later = [link(THIRD, TMLR, FIRST), link(THIRD, TMLR, SECOND, ICML)]
    return {
        ICLR: [paper(FIRST)],
        ICML: [paper(SECOND, ICML), link(SECOND, ICML, FIRST)],
        TMLR: [paper(THIRD, TMLR), *later],
    }


def test_no_page_links_to_another_submission_that_is_taken_down_and_the_other_links_stay(tmp_path: Path) -> None:
    with explored(tmp_path / "corpus", tries(), (SECOND,)) as client:
        for shown, other in ((FIRST, THIRD), (THIRD, FIRST)):
            page, record = client.get(f"/paper/{shown}").text, client.get(f"/record/{shown}").text
            assert SECOND not in page + record, f"the page of {shown} links to a paper that is taken down"
            assert f'href="/paper/{other}"' in page
