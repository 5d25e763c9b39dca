"""Define the forms of the invented venues, and write them as invitations of both APIs."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TypeAlias

from peercorpus.simulator.world.holdings import Json

Options: TypeAlias = tuple[tuple[int, str], ...] | tuple[str, ...]


@dataclass(frozen=True, slots=True)
class FormField:
    """A question of a form.

    Attributes:
        options: Possible answers: strings, or integers with their labels; empty for free text.
        many: Whether several options may be chosen.
    """

    name: str
    description: str
    options: Options = ()
    optional: bool = False
    many: bool = False
    max_length: int = 200000

    def as_v1(self, order: int) -> Json:
        """Return the field in the form of an API v1 `reply.content`."""
        question: Json = {"order": order, "description": self.description, "required": not self.optional}
        if not self.options:
            return question | {"value-regex": f"[\\S\\s]{{1,{self.max_length}}}", "markdown": True}
        return question | {"values-checkbox" if self.many else "value-radio": list(self.options)}

    def as_v2(self, order: int) -> Json:
        """Return the field in the form of an API v2 note template."""
        return {"order": order, "description": self.description, "value": {"param": self._parameters()}}

    def _parameters(self) -> Json:
        missing: Json = {"optional": True, "deletable": True} if self.optional else {}
        if not self.options:
            return {"type": "string", "input": "textarea", "maxLength": self.max_length, "markdown": True} | missing
        if self.many:
            return {"type": "string[]", "input": "checkbox", "enum": list(self.options)} | missing
        if isinstance(self.options[0], str):
            return {"type": "string", "input": "radio", "enum": list(self.options)} | missing
        choices = [{"value": value, "description": label} for value, label in self.options]
        return {"type": "integer", "input": "radio", "enum": choices} | missing


def text(name: str, description: str, *, optional: bool = False, max_length: int = 200000) -> FormField:
    """Return a question answered in free text."""
    return FormField(name, description, optional=optional, max_length=max_length)


def choice(name: str, description: str, *options: str, optional: bool = False) -> FormField:
    """Return a question answered with one of a few strings."""
    return FormField(name, description, options, optional=optional)


def boxes(name: str, description: str, *options: str) -> FormField:
    """Return a question answered with any of a few strings."""
    return FormField(name, description, options, many=True)


def number_field(name: str, description: str, *labels: str) -> FormField:
    """Return a question answered with an integer; each label reads `6: weak accept`."""
    return FormField(name, description, tuple((int(label.partition(":")[0]), label) for label in labels))


Forms: TypeAlias = Mapping[str, tuple[FormField, ...]]

TITLE = text("title", "Brief summary of your comment.", optional=True, max_length=500)
COMMENT = (TITLE, text("comment", "Your comment or reply. Add formatting using Markdown.", max_length=5000))
WITHDRAWAL = (
    choice(
        "withdrawal_confirmation", "", "I have read and agree with the venue's withdrawal policy on behalf of us all."
    ),
    text("comment", "Add formatting using Markdown.", optional=True),
)
DESK_REJECTION = (
    TITLE,
    text("desk_reject_comments", "Brief summary of reasons for marking this submission as desk rejected."),
)
REBUTTAL = (text("rebuttal", "Rebuttals can include Markdown and LaTeX.", max_length=10000),)

FOUR_GRADES = ("4: excellent", "3: good", "2: fair", "1: poor")
CERTAINTY = (
    "5: You are absolutely certain about your assessment. You are very familiar with the related work and checked the "
    "math/other details carefully.",
    "4: You are confident in your assessment, but not absolutely certain.",
    "3: You are fairly confident in your assessment. Math/other details were not carefully checked.",
    "2: You are willing to defend your assessment, but it is quite likely that you missed central parts.",
    "1: Your assessment is an educated guess.",
)

AURORA: Forms = {
    "Official_Review": (
        text("title", "Brief summary of your review.", max_length=500),
        text(
            "review", "Please provide an evaluation of the quality, clarity, originality and significance of this work."
        ),
        choice(
            "rating", "Please provide an overall rating.", "1: Reject", "3: Weak Reject", "6: Weak Accept", "8: Accept"
        ),
        choice(
            "experience_assessment",
            "Please make a selection that represents your experience and knowledge of the area.",
            "I have published in this field for several years.",
            "I have published one or two papers in this area.",
            "I have read many papers in this area.",
            "I do not know much about this area.",
        ),
        choice(
            "review_assessment:_thoroughness_in_paper_reading",
            "If this review is thorough, say so; if not, say that.",
            "I read the paper thoroughly.",
            "I read the paper at least twice and used my best judgement in assessing the paper.",
            "I made a quick assessment of this paper.",
            "N/A",
        ),
        choice(
            "review_assessment:_checking_correctness_of_derivations_and_theory",
            "Did you check the derivations?",
            "I carefully checked the derivations and theory.",
            "I assessed the sensibility of the derivations and theory.",
            "I did not assess the derivations or theory.",
            "N/A",
        ),
        choice(
            "review_assessment:_checking_correctness_of_experiments",
            "Did you check the experiments?",
            "I carefully checked the experiments.",
            "I assessed the sensibility of the experiments.",
            "I did not assess the experiments.",
            "N/A",
        ),
    ),
    "Official_Comment": COMMENT,
    "Public_Comment": COMMENT,
    "Withdraw": (
        TITLE,
        choice("withdrawal confirmation", "", "I have read and agree with the venue's withdrawal policy."),
    ),
    "Desk_Reject": DESK_REJECTION,
    "Decision": (
        text("title", "Title of the decision.", max_length=500),
        choice("decision", "", "Accept (Talk)", "Accept (Spotlight)", "Accept (Poster)", "Reject"),
        text("comment", "The reasons.", optional=True),
    ),
}

BOREALIS: Forms = {
    "Official_Review": (
        text("summary", "Briefly summarize the paper and its contributions."),
        number_field("soundness", "Please assign the paper a numerical rating.", *FOUR_GRADES),
        number_field("presentation", "Please assign the paper a numerical rating.", *FOUR_GRADES),
        number_field("contribution", "Please assign the paper a numerical rating.", *FOUR_GRADES),
        text("strengths", "A substantive assessment of the strengths of the paper."),
        text("weaknesses", "A substantive assessment of the weaknesses of the paper."),
        text("questions", "Please list up and carefully describe any questions and suggestions for the authors."),
        boxes("flag_for_ethics_review", "", "No ethics review needed.", "Yes, Privacy, security and safety"),
        number_field(
            "rating",
            "Please provide an overall score for this submission.",
            "1: strong reject",
            "3: reject, not good enough",
            "5: marginally below the acceptance threshold",
            "6: marginally above the acceptance threshold",
            "8: accept, good paper",
            "10: strong accept, should be highlighted at the conference",
        ),
        number_field("confidence", "Please provide a confidence score for your assessment.", *CERTAINTY),
        choice("code_of_conduct", "", "Yes"),
    ),
    "Official_Comment": COMMENT,
    "Public_Comment": COMMENT,
    "Withdrawal": WITHDRAWAL,
    "Desk_Rejection": DESK_REJECTION,
    "Meta_Review": (
        text("metareview", "Please provide an evaluation of the submission, based on the reviews and the discussion."),
        text("justification_for_why_not_higher_score", "Why not higher?", optional=True),
        text("justification_for_why_not_lower_score", "Why not lower?", optional=True),
    ),
    "Decision": (
        TITLE,
        choice("decision", "", "Accept (oral)", "Accept (spotlight)", "Accept (poster)", "Reject"),
        text("comment", "", optional=True),
    ),
}

FJORD: Forms = {
    **BOREALIS,
    "AI_Review": (text("ai_review", "Are the claims supported by accurate, convincing and clear evidence?"),),
    "LLM_PDF_Feedback": (TITLE, text("feedback", "")),
    "Survey": (
        choice("share_of_valid_issues", "", "All", "More than 75%", "About 50%", "Less than 25%", "None"),
        choice("false_claims", "", "Unsure", "At least one serious", "Several minor", "One minor", "None"),
        choice("clear_feedback", "", "Strongly disagree", "Disagree", "Neutral", "Agree", "Strongly agree"),
    ),
}

CASCADIA: Forms = {
    "Official_Review": (
        text("summary", "Briefly summarize the paper and its contributions."),
        text("strengths_and_weaknesses", "Please provide a thorough assessment of the strengths and weaknesses."),
        number_field("quality", "Quality", *FOUR_GRADES),
        number_field("clarity", "Clarity", *FOUR_GRADES),
        number_field("significance", "Significance", *FOUR_GRADES),
        number_field("originality", "Originality", *FOUR_GRADES),
        text("questions", "Please list 3-5 key questions and suggestions for the authors."),
        text("limitations", "Have the authors adequately addressed the limitations? If so, simply leave “yes”."),
        number_field(
            "rating",
            "Please provide an overall score for this submission.",
            "6: Strong Accept: Technically flawless paper with groundbreaking impact",
            "5: Accept: Technically solid paper, with high impact on at least one sub-area",
            "4: Borderline accept: Technically solid paper where reasons to accept outweigh reasons to reject",
            "3: Borderline reject: Technically solid paper where reasons to reject outweigh reasons to accept",
            "2: Reject: For instance, a paper with technical flaws, weak evaluation or inadequate reproducibility",
            "1: Strong Reject: For instance, a paper with well-known results or unaddressed ethical considerations",
        ),
        number_field("confidence", "Please provide a confidence score for your assessment.", *CERTAINTY),
        boxes(
            "ethical_concerns",
            "",
            "NO or VERY MINOR ethics concerns only",
            "Major Concern: Research involving human subjects",
        ),
        text("paper_formatting_concerns", "Please report any major formatting concern.", optional=True),
        choice("code_of_conduct_acknowledgement", "", "Yes"),
        choice("responsible_reviewing_acknowledgement", "", "Yes"),
        text(
            "final_justification", "After the discussion, please give the reasons for your final rating.", optional=True
        ),
    ),
    "Official_Comment": COMMENT,
    "Rebuttal": REBUTTAL,
    "Author_Rebuttal": REBUTTAL,
    "Mandatory_Acknowledgement": (
        boxes(
            "mandatory_acknowledgement",
            "",
            "I have read the author rebuttal.",
            "I have engaged in discussions and responded to authors.",
            "I have filled in the final justification and updated the rating if needed.",
            "I understand that reviewers may be flagged when acting against the guidelines.",
        ),
    ),
    "Withdrawal": WITHDRAWAL,
    "Desk_Rejection": DESK_REJECTION,
    "Decision": (
        TITLE,
        choice("decision", "", "Accept (oral)", "Accept (spotlight)", "Accept (poster)", "Reject"),
        text("comment", "", optional=True),
    ),
}

DALES: Forms = {
    "Official_Review": (
        text("Paper_Topic_and_Main_Contributions", "What is this paper about, and what contributions does it make?"),
        text("Reasons_to_accept", "What would be the main benefits to the community if this paper were presented?"),
        text("Reasons_to_reject", "What would be the main risks of having this paper presented?"),
        text("Questions_for_the_Authors", "Please number your questions.", optional=True),
        text("Missing_References", "Please list any references that should be included.", optional=True),
        choice(
            "Soundness",
            "Given that this is a short or long paper, does it sufficiently support all of its claims?",
            "5: Excellent: This study is one of the most thorough I have seen, given its type.",
            "4: Strong: This study provides sufficient support for all of its claims/arguments.",
            "3: Good: This study provides sufficient support for its major claims/arguments, with minor gaps.",
            "2: Borderline: Some of the main claims/arguments are not sufficiently supported.",
            "1: Poor: This study is not yet sufficiently thorough to warrant publication.",
        ),
        choice(
            "Excitement",
            "How exciting is this paper for you?",
            "5: Transformative: This paper is likely to change its subfield or computational linguistics broadly.",
            "4: Strong: This paper deepens the understanding of some phenomenon or lowers the barriers to it.",
            "3: Ambivalent: It has merits, but there are key weaknesses that another round would mend.",
            "2: Mediocre: This paper makes marginal contributions, so I would rather not see it in the conference.",
            "1: Poor: I cannot identify the contributions of this paper.",
        ),
        choice(
            "Reproducibility",
            "How easily could the results be reproduced?",
            "5: Could easily reproduce the results.",
            "4: Could mostly reproduce the results, but there may be some variation.",
            "3: Could reproduce the results with some difficulty.",
            "2: Would be hard pressed to reproduce the results.",
            "1: Could not reproduce the results here no matter how hard they tried.",
            "N/A: Doesn't apply, since the paper does not include empirical results.",
        ),
        choice("Ethical_Concerns", "Are there any ethical concerns?", "Yes", "No"),
        choice(
            "Reviewer_Confidence",
            "How confident are you in your assessment?",
            "5: Positive that my evaluation is correct. I read the paper very carefully.",
            "4: Quite sure. I tried to check the important points carefully.",
            "3: Pretty sure, but there's a chance I missed something.",
            "2: Willing to defend my evaluation, but it is fairly likely that I missed some details.",
            "1: Not my area, or paper was hard for me to understand.",
        ),
    ),
    "Rebuttal": REBUTTAL,
    "Official_Comment": COMMENT,
    "Withdrawal": WITHDRAWAL,
    "Desk_Rejection": DESK_REJECTION,
    "Meta_Review": (
        text("metareview", "Please summarize the reviews and the discussion."),
        choice(
            "recommendation",
            "",
            "4: Sound and Exciting: Accept to Main Conference",
            "3: Sound but not Exciting Enough: Accept to Findings",
            "2: Not Sound Enough: Reject",
        ),
    ),
    "Decision": (
        TITLE,
        choice("decision", "", "Accept-Main", "Accept-Findings", "Reject"),
        text("comment", "", optional=True),
    ),
}

JLE: Forms = {
    "Review": (
        text("summary_of_contributions", "Brief description, in the reviewer's words, of the contributions."),
        text("strengths_and_weaknesses", "List of the strong aspects of the submission as well as weaker elements."),
        text("requested_changes", "List of proposed adjustments, and whether each is critical to securing acceptance."),
        text("broader_impact_concerns", "Brief description of any concerns on the ethical implications of the work."),
        choice("claims_and_evidence", "Are the claims supported by accurate and convincing evidence?", "Yes", "No"),
        choice("audience", "Would some individuals in the audience be interested in the findings?", "Yes", "No"),
    ),
    "Official_Comment": COMMENT,
    "Public_Comment": COMMENT,
    "Official_Recommendation": (
        choice("claims_and_evidence", "", "Yes", "No"),
        choice("audience", "", "Yes", "No"),
        choice("decision_recommendation", "", "Accept", "Leaning Accept", "Leaning Reject", "Reject"),
        text("comment", "", optional=True),
    ),
    "Withdrawal": WITHDRAWAL,
    "Desk_Rejection": DESK_REJECTION,
    "Decision": (
        text("claims_and_evidence", "Are the claims supported?"),
        text("audience", "Who would be interested?"),
        choice("recommendation", "", "Accept as is", "Accept with minor revision", "Reject"),
        text("comment", "", optional=True),
    ),
}
