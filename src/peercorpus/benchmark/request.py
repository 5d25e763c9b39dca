"""The requests for runs of the benchmark: which papers are asked about, how, and which models answer and judge."""

from dataclasses import dataclass
from math import isfinite
from pathlib import Path
from typing import Literal

from peercorpus.errors import PeercorpusError
from peercorpus.execution.requests import require_positive
from peercorpus.records.enums import WorstGrade
from peercorpus.venues.venue_names import read_venue_or_conference


@dataclass(frozen=True, slots=True, kw_only=True)
class QuestionRequest:
    """How questions show papers, and what written answers are measured by.

    Attributes:
        grade: Worst acceptable grade of a paper's text. The default and better ones are proven initial
            versions; worse ones need a release that was published with --grade.
        paper_tokens: Truncate each paper to this many tokens, dropping references and appendices first, then
            paragraphs from the end.
        tokenizer: Tokenizer that counts tokens: a file, a folder or a name on the Hugging Face Hub. By default,
            words and punctuation marks are counted.
        bert_score: Compute BERTScore with this model, a folder or a name on the Hub; "re2" selects the model
            Re² used.
        embed_cos: Compute EmbedCos with this model, a folder or a name on the Hub; "re2" selects the model Re²
            used.
        limit: Ask only the first N cases. They usually come from one venue and are not a random sample.

    Raises:
        PeercorpusError: A number is not positive.
    """

    grade: WorstGrade = "only_before_review"
    paper_tokens: int | None = None
    tokenizer: str | None = None
    bert_score: str | None = None
    embed_cos: str | None = None
    limit: int | None = None

    def __post_init__(self) -> None:
        require_positive("--paper-tokens", self.paper_tokens)
        require_positive("--limit", self.limit)

    def options(self) -> dict[str, object]:
        """Return the options as the tasks take them, see `options.TaskRequest`."""
        models = {"bert_score": self.bert_score, "embed_cos": self.embed_cos}
        return {name: True if model == "re2" else model for name, model in models.items()} | {
            "grade": self.grade,
            "paper_tokens": self.paper_tokens,
            "tokenizer": self.tokenizer,
        }


@dataclass(frozen=True, slots=True, kw_only=True)
class BenchRequest(QuestionRequest):
    """One run of the benchmark: the options of `peercorpus bench`.

    Attributes:
        split: Ask about the papers of this split.
        venue: Only papers of this venue (id or short name such as ICLR2024) or conference (iclr). May be
            repeated.
        unified: For `scores`: ask for the overall recommendation on Re²'s scale of 1 to 10 instead of the
            fields of the form, and compare it with the mean of the reviewers' unified ratings.
        adapter: Prompt and output format of a published reviewing model: sea-e, openreviewer, deepreviewer or
            cyclereviewer. Detected from the model's name if omitted.
        wordings: File or folder from the adapter's authors with the prompts that their model was trained with.
        figures: Show figures and tables of the paper as images, and also ask the same questions without them,
            for comparison. Needs a model that reads images, and a release published with --figures.
        likelihood: Answer acceptance by the probability that the model gives each decision, instead of by what
            it writes, so that each case has an answer. Needs a model on this machine, or a server that
            continues an answer and gives log-probabilities, such as vLLM.
        model: Model name for inspect_ai: openai/…, vllm/…, hf/…, openai-api/SERVICE/…; or the folder of a
            model, an adapter or a run of `peercorpus finetune`. Without it only the baselines run.
        model_url: URL of the model's endpoint.
        model_arg: Further argument for the model's provider, as --model-arg.NAME VALUE. Numbers, true, false
            and null are read as JSON.
        grader: Model that judges reviews, rebuttals and meta-reviews: a name or a folder, as for --model. With
            --judge-profile re2, LLaMA-3.1-8B-Instruct is the default.
        judge_profile: Instruction and answer format of the judge: ours, or Re²'s (appendix D of its paper).
            Default: ours.
        judge_words: For --judge-profile re2: a file with the judge's instruction; logs record its SHA-256. By
            default the instruction is ours.
        grader_arg: Argument for the grader, as --grader-arg.NAME VALUE: base_url, max_tokens, max_connections,
            or an argument of its provider.
        second_grader: Second model that judges the same answers.
        repeats: How often to ask the grader each question, to measure its consistency. The first answer counts.
        no_baselines: Leave out the baselines.
        max_connections: Number of questions asked in parallel.
        max_tokens: Maximum number of tokens in an answer. A model on this machine has a limit for each task by
            default: 64 for acceptance, 256 for scores, 2,048 for review, and 1,024 for rebuttal and
            meta_review.
        temperature: Sampling temperature of the model; 0 decodes greedily, which is the default of a model on
            this machine.
        controls: Also ask the same questions with only title and abstract instead of the paper, and with the
            title alone.
        keep_errors: Count a case that ended in an error as an answer without a score, instead of asking again
            in the next run.

    Raises:
        PeercorpusError: A number is out of range.
    """

    split: Literal["test", "validation", "train"] = "test"
    venue: tuple[str, ...] = ()
    unified: bool = False
    adapter: str | None = None
    wordings: Path | None = None
    figures: bool = False
    likelihood: bool = False
    model: str | None = None
    model_url: str | None = None
    model_arg: dict[str, str] | None = None
    grader: str | None = None
    judge_profile: Literal["ours", "re2"] | None = None
    judge_words: Path | None = None
    grader_arg: dict[str, str] | None = None
    second_grader: str | None = None
    repeats: int | None = None
    no_baselines: bool = False
    max_connections: int | None = None
    max_tokens: int | None = None
    temperature: float | None = None
    controls: bool = False
    keep_errors: bool = False

    def __post_init__(self) -> None:
        QuestionRequest.__post_init__(self)
        require_positive("--repeats", self.repeats)
        require_positive("--max-connections", self.max_connections)
        require_positive("--max-tokens", self.max_tokens)
        require_temperature(self.temperature)

    def options(self) -> dict[str, object]:
        """Return the options as the tasks take them, but for those of the judge."""
        return QuestionRequest.options(self) | {
            "split": self.split,
            "venue": ",".join(map(read_venue_or_conference, self.venue)) or None,
            "unified": self.unified or None,
            "adapter": self.adapter,
            "wordings": None if self.wordings is None else str(self.wordings),
            "figures": self.figures or None,
            "likelihood": self.likelihood or None,
        }


def require_temperature(temperature: float | None) -> None:
    """Require a finite temperature of 0 or more, or None.

    Raises:
        PeercorpusError: It is something else.
    """
    if temperature is not None and not (isfinite(temperature) and temperature >= 0):
        raise PeercorpusError(f"--temperature must be a finite number, 0 or more, got {temperature:g}.")
