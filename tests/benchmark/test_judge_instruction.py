"""A judge in Re²'s profile: its instructions, its answers, and how its wording is identified."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

import pytest
from inspect_ai.model import ChatMessage, GenerateConfig

from invented_bench import TEST, scripted
from peercorpus.benchmark.answers import UnreadableAnswerError, Unscored
from peercorpus.benchmark.cases import BenchTask
from peercorpus.benchmark.judge.instruction import JudgeInstruction, JudgeProfile, load_instruction
from peercorpus.benchmark.judge.judge import JudgeContext
from peercorpus.benchmark.leaderboard import make_boards
from peercorpus.benchmark.leaderboard_render import lay_out
from peercorpus.benchmark.logs import read_runs
from peercorpus.benchmark.options import parse_task_options
from peercorpus.benchmark.outcomes import Verdict
from peercorpus.benchmark.run import Bench, run_tasks
from peercorpus.errors import PeercorpusError
from scripted_judges import judge_by, texts

PAPER = Path(__file__).parents[3] / "shared" / "seeds" / "003_dadfd69eaaab54c8.txt"
WORDS = "Rate the candidate strictly."
ANSWER = {"quality": 3, "constructive": 4, "accuracy": 5, "completeness": 6, "clarity": 7}
BESIDE = JudgeContext(references=["Thanks."], title="On kites", abstract="They fly.", answered="We flew one.")
RE2 = load_instruction(JudgeProfile.RE2, None)
ZERO = "0" * 64


class TestAnswers:
    def test_the_second_aspect_is_called_constructive(self) -> None:
        assert RE2.read(json.dumps(ANSWER)) == Verdict(3, 4, 5, 6, 7)

    @pytest.mark.parametrize(
        ("changes", "why"),
        [
            ({"constructive": 0}, Unscored.OFF_SCALE),
            ({"constructive": 11}, Unscored.OFF_SCALE),
            ({"quality": 6.5}, Unscored.OFF_SCALE),
            ({"constructive": None, "constructiveness": 4}, Unscored.NO_NUMBER),
            ({"clarity": "7"}, Unscored.NO_NUMBER),
        ],
    )
    def test_no_number_is_guessed(self, changes: dict[str, object], why: Unscored) -> None:
        with pytest.raises(UnreadableAnswerError) as caught:
            RE2.read(json.dumps(ANSWER | changes))
        assert caught.value.reason is why

    def test_our_own_profile_keeps_its_names(self) -> None:
        with pytest.raises(UnreadableAnswerError, match="constructiveness"):
            JudgeInstruction().read(json.dumps(ANSWER))


class TestQuestions:
    def test_the_judge_sees_only_the_reference_and_the_candidate(self) -> None:
        question = RE2.ask("A candidate.", BESIDE)
        assert texts(question.user) == {"REFERENCE-1": "Thanks.", "CANDIDATE": "A candidate."}

    def test_the_judge_is_asked_to_grade_strictly_including_constructiveness(self) -> None:
        system = RE2.ask("A candidate.", BESIDE).system
        assert "strictly" in system
        assert '"constructive"' in system

    def test_an_instruction_can_be_read_from_a_file(self, tmp_path: Path) -> None:
        (tmp_path / "words.txt").write_text(f"{WORDS}\n")
        asked = load_instruction(JudgeProfile.RE2, tmp_path / "words.txt")
        assert asked.ask("A candidate.", BESIDE).system.startswith(f"{WORDS}\n\n")
        assert asked.sha256 == hashlib.sha256(f"{WORDS}\n".encode()).hexdigest()
        assert f"words:file|sha256:{asked.sha256}" in asked.signature
        assert not asked.is_appendix_d


class TestNames:
    def test_our_instruction_is_marked_as_ours(self) -> None:
        assert "words:ours" in JudgeInstruction().signature
        assert "words:ours" in RE2.signature
        assert (JudgeInstruction().says, RE2.says) == ("", "Re²'s profile, in our words")

    @pytest.mark.real
    @pytest.mark.skipif(not PAPER.is_file(), reason="the paper is not beside this checkout, in ../shared/seeds")
    def test_the_appendixs_instruction_is_recognised_whatever_its_line_breaks(self, tmp_path: Path) -> None:
        paper = PAPER.read_text(encoding="utf-8")
        start = paper.index("You are an expert evaluator.")
        words = paper[start : paper.index("```", start)]
        for copied in (words, " ".join(words.split()), words.replace("usefulness-low", "usefulness\N{EM DASH}low")):
            (tmp_path / "words.txt").write_text(copied, encoding="utf-8")
            asked = load_instruction(JudgeProfile.RE2, tmp_path / "words.txt")
            assert asked.is_appendix_d
            assert "words:re2-app-d" in asked.signature
            assert asked.says.startswith("Re²'s instruction, App. D (SHA-256 ")


class TestRefusals:
    def test_an_instruction_needs_the_profile_and_a_judge(self, tmp_path: Path) -> None:
        (tmp_path / "words.txt").write_text(WORDS)
        with pytest.raises(PeercorpusError, match="--judge-profile re2"):
            load_instruction(JudgeProfile.OURS, tmp_path / "words.txt")
        with pytest.raises(PeercorpusError, match="judged"):
            parse_task_options("release", {"judge_profile": "re2"})

    @pytest.mark.fault("input", "a file with a judge's instruction", "the file is named", times=3)
    @pytest.mark.parametrize("content", [None, b" \n", b"\xff\xfe\x00"])
    def test_an_empty_instruction_file_is_refused(self, tmp_path: Path, content: bytes | None) -> None:
        path = tmp_path / "words.txt"
        if content is not None:
            path.write_bytes(content)
        with pytest.raises(PeercorpusError, match=r"words\.txt.*instruction"):
            load_instruction(JudgeProfile.RE2, path)


@pytest.mark.usefixtures("quietly")
class TestRun:
    @pytest.mark.slow
    def test_the_profile_is_in_log_signature_and_table(self, bench_data: Path, tmp_path: Path) -> None:
        (tmp_path / "words.txt").write_text(WORDS)
        seen: list[tuple[Sequence[ChatMessage], GenerateConfig]] = []
        grader = judge_by(lambda _: json.dumps(ANSWER), seen)
        options = {"judged": True, "judge_profile": "re2", "judge_words": str(tmp_path / "words.txt")}
        logs = tmp_path / "logs"
        run_tasks(
            Bench(
                [BenchTask.REBUTTAL], bench_data, logs, scripted(lambda _: "Fly."), options, False, {"grader": grader}
            )
        )
        (run,) = read_runs(logs)
        sha256 = hashlib.sha256(WORDS.encode()).hexdigest()
        assert run.grader == f"{grader}, Re²'s profile, in words of a file (SHA-256 {sha256[:12]})"
        assert f"profile:re2|words:file|sha256:{sha256}" in run.signatures["judge"]
        assert len(seen) == 2 * len(TEST)
        assert all(asked[0].text.startswith(WORDS) for asked, _ in seen)
        shown = lay_out(make_boards([run])).to_markdown()
        assert f"judge: constructiveness (by {run.grader})" in shown
        assert f"sha256:{sha256}" in shown

    @pytest.mark.slow
    def test_a_changed_instruction_is_asked_again(self, bench_data: Path, tmp_path: Path) -> None:
        asked = 0

        def rule(_: dict[str, str]) -> str:
            nonlocal asked
            asked += 1
            return json.dumps(ANSWER)

        grader = judge_by(rule)
        options = {"judged": True, "judge_profile": "re2", "judge_words": str(tmp_path / "words.txt"), "venue": "kite"}
        bench = Bench(
            [BenchTask.REBUTTAL],
            bench_data,
            tmp_path / "logs",
            scripted(lambda _: "Fly."),
            options,
            False,
            {"grader": grader},
        )
        counts = []
        for words in (WORDS, WORDS, "Be mild."):
            (tmp_path / "words.txt").write_text(words)
            run_tasks(bench)
            counts.append(asked)
        assert counts == [8, 8, 16]
