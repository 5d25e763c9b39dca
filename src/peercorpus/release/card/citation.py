"""Write the BibTeX entries of a release, of an adapter, and of the datasets that a release includes."""

import re
from datetime import datetime
from importlib.metadata import version

from peercorpus.wording.counted_nouns import plural

TITLE = "Peer reviews from OpenReview"
CITED = {
    "reviewbench": (
        "ReviewBench",
        "CC BY 4.0",
        "@misc{reviewbench,\n"
        "  title = {ReviewBench},\n"
        "  howpublished = {\\url{https://huggingface.co/datasets/Samarth0710/reviewbench}}\n"
        "}",
    ),
    "re2": (
        "Re²",
        "Apache 2.0",
        "@misc{zhang2025re2,\n"
        "  title = {Re$^2$: A Consistency-ensured Dataset for Full-stage Peer Review and Multi-turn Rebuttal"
        " Discussions},\n"
        "  author = {Daoze Zhang and Zhijian Bao and Sihang Du and Zhiyi Zhao and Kuangling Zhang and Dezheng Bao and"
        " Yang Yang},\n"
        "  year = {2025},\n"
        "  eprint = {2505.07920},\n"
        "  archivePrefix = {arXiv}\n"
        "}",
    ),
}
"""Name, licence and BibTeX entry of each dataset, by the prefix of its record ids."""


def release_version(newest: datetime | None) -> str:
    """Return the version of peercorpus with the day when the newest data was received.

    >>> release_version(datetime(2026, 11, 21, 23, 59)).partition("+")[2]
    '20261121'
    """
    return version("peercorpus") + (f"+{newest:%Y%m%d}" if newest else "")


def release_bibtex(newest: datetime | None, papers: int, reviews: int) -> str:
    """Return the BibTeX entry of a release."""
    contents = f"{plural(papers, 'paper')} and {plural(reviews, 'review')}"
    how_published = f"Dataset of {contents}, made with peercorpus {version('peercorpus')}"
    dated = (
        {
            "year": f"{newest:%Y}",
            "month": f"{newest:%m}",
            "note": f"As received until {newest:%Y-%m-%d} (UTC)",
        }
        if newest
        else {}
    )
    fields = {"title": TITLE, "howpublished": how_published, **dated}
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    return f"@misc{{peercorpus{f'_{newest:%Y%m%d}' if newest else ''},\n{lines}\n}}"


def adapter_bibtex(base: str, subject: str, made_with: str, release: str) -> str:
    r"""Return the BibTeX entry of an adapter.

    Args:
        base: The name of the model.
        subject: The task that it was tuned for.
        made_with: The version of peercorpus.
        release: The sha256 of the release.

    >>> adapter_bibtex("Qwen_2", "review", "0.1.0", "ab12").splitlines()[1]
    '  title = {LoRA adapter of {Qwen\\_2} for review},'
    """
    named = re.sub(r"[^A-Za-z0-9./ -]", lambda match: "\\_" if match[0] == "_" else " ", base)
    fields = {
        "title": f"LoRA adapter of {{{named}}} for {subject}",
        "howpublished": f"Made with peercorpus {made_with}",
        "note": f"Learnt from the release whose release.json has the sha256 {release}",
    }
    lines = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    return f"@misc{{peercorpus_adapter_{release[:12]},\n{lines}\n}}"
