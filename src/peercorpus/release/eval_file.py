"""Write `eval.yaml`, with which inspect_ai runs `acceptance` from a published dataset without this package.

Both readers of the file allow only inspect_ai's own scorers, so the other tasks, which need our scorers, are not in it:
they run with `-T release=hf:OWNER/NAME@COMMIT`. Sources, read in November 2026: the reader of inspect_ai 0.3.285
(`inspect_ai/_eval/task/hf.py`), and "Eval.yaml specification" in the Hub's documentation (`hub-docs`,
`docs/hub/eval-results.md`).
"""

from peercorpus.models import prompts
from peercorpus.models.chat_messages import escape_markers
from peercorpus.records.enums import Status
from peercorpus.release.card.markdown import to_yaml
from peercorpus.release.exports.samples import opening_text
from peercorpus.release.record_rows import Row
from peercorpus.release.splits import Split

EVAL_FILE = "eval.yaml"
CONFIG = "acceptance"
"""The configuration with the questions, and the id of the task."""
TARGETS = {Status.ACCEPTED.value: "accept", Status.REJECTED.value: "reject"}
ANSWER = r'^\s*(?:```(?:json)?\s*)?\{[^{}]*"decision"\s*:\s*"(accept|reject)"[^{}]*\}\s*(?:```)?\s*$'
"""Matches one JSON object with a decision, alone or in a code fence: any other answer counts as wrong."""


def make_question(paper: Row) -> Row | None:
    """Return the row of `acceptance` made from one of `review_sft`; None if the paper has no decision to predict."""
    target = TARGETS.get(paper["status"])
    if target is None:
        return None
    venue = paper["conference"] if paper["year"] is None else f"{paper['conference']} {paper['year']}"
    text = escape_markers(opening_text(paper["title"], paper["markdown"]) or "")
    question = "\n\n".join([prompts.SUBMITTED_TO.format(venue=venue), text, prompts.ACCEPTANCE_AGAIN])
    return {name: paper[name] for name in ("forum_id", "venue_id", "conference", "year", "grade")} | {
        "question": question,
        "target": target,
    }


def render_eval_file() -> str:
    """Return the content of `eval.yaml`."""
    # inspect_ai fills placeholders in single braces.
    system = prompts.ACCEPTANCE.replace("{", "{{").replace("}", "}}")
    task = {
        "id": CONFIG,
        "config": CONFIG,
        "split": Split.TEST.value,
        "field_spec": {"input": "question", "target": "target"},
        "solvers": [{"name": "system_message", "args": {"template": system}}, {"name": "generate"}],
        "scorers": [{"name": "pattern", "args": {"pattern": ANSWER}}],
    }
    return to_yaml(
        {
            "name": "Acceptance of papers after peer review",
            "description": (
                "Predict whether a paper was accepted, from the text that its reviewers read. Accuracy over the test"
                " split; an answer that is not the one JSON object asked for counts as wrong."
            ),
            "evaluation_framework": "inspect-ai",
            "tasks": [task],
        }
    )
