"""Measures how fast examples are made; how fast a model is tuned and in how much memory, beside the plain Trainer."""

import json
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any

import msgspec

ROUNDS = 3
ANSWER = 400
"""Tokens of an example that are learnt: a review of some 300 words."""
WAYS = ("ours", "plain Trainer")


@dataclass(frozen=True)
class Size:
    """A model with random weights, and examples for it.

    Attributes:
        context: Tokens of every example.
        steps: Of which the first is not timed.
        recipe: Other settings than Re²'s.
    """

    says: str
    model: dict[str, Any]
    context: int
    steps: int
    recipe: dict[str, Any]


LLAMA_1B = {
    "vocab_size": 128_256,
    "hidden_size": 2_048,
    "intermediate_size": 8_192,
    "num_hidden_layers": 16,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "tie_word_embeddings": True,
}
"""The dimensions of Llama-3.2-1B."""
SMALL = LLAMA_1B | {"vocab_size": 32_000, "hidden_size": 256, "intermediate_size": 1_024, "num_hidden_layers": 4}
ON_GPU = Size("1.2 billion parameters, Re²'s settings", LLAMA_1B, 16_384, 4, {"batch": 4})
ON_CPU = Size("12 million parameters", SMALL | {"num_attention_heads": 8}, 2_048, 4, {"batch": 2})


def _size() -> Size:
    import torch

    return ON_GPU if torch.cuda.is_available() else ON_CPU


def _write_model(folder: Path, size: Size) -> None:
    import torch
    from tokenizers import Tokenizer, models
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    torch.manual_seed(0)
    config = LlamaConfig(max_position_embeddings=size.context, **size.model)
    model = LlamaForCausalLM(config)
    model.to(torch.bfloat16 if torch.cuda.is_available() else torch.float32).save_pretrained(folder)
    words = Tokenizer(models.WordLevel({"<end>": 0, "<unk>": 1}, unk_token="<unk>"))
    PreTrainedTokenizerFast(tokenizer_object=words, eos_token="<end>").save_pretrained(folder)


def _write_run(folder: Path, model: Path, size: Size) -> None:
    import pyarrow as pa

    from peercorpus.finetune.prepare import SCHEMA, token_file
    from peercorpus.finetune.recipe import Recipe
    from peercorpus.finetune.request import TuneRequest
    from peercorpus.finetune.run_folder import DATA, RUN, RunFile, RunRequest
    from peercorpus.release.splits import Split

    recipe = msgspec.convert({"context": size.context, "validation": 0, "save_steps": 10**6} | size.recipe, Recipe)
    chance = Random(0)
    (folder / DATA).mkdir(parents=True)
    for split, examples in ((Split.TRAIN, size.steps * recipe.batch), (Split.VALIDATION, 0)):
        with pa.ipc.new_stream(folder / DATA / token_file(split), SCHEMA) as file:
            for _ in range(examples):
                ids = [chance.randrange(2, size.model["vocab_size"]) for _ in range(size.context)]
                labels = [-100] * (size.context - ANSWER) + ids[-ANSWER:]
                file.write_batch(pa.record_batch([pa.array([one], SCHEMA.types[0]) for one in (ids, labels)], SCHEMA))
    asked = RunRequest("", "", "", "", "", TuneRequest(task="review", model=str(model)), recipe)
    made = RunFile(asked, {}, {}, {}, {}, {}, {})
    (folder / RUN).write_bytes(msgspec.json.encode(made))


def _ours(folder: Path, tick: Callable[[], None]) -> None:
    from peercorpus.finetune.training import train

    train(folder, lambda _: tick())


def _plain(folder: Path, tick: Callable[[], None]) -> None:
    """The do-it-yourself version: the same examples, adapter and settings with transformers and PEFT only."""
    import torch
    from datasets import Dataset
    from peft import LoraConfig, get_peft_model
    from transformers import AutoModelForCausalLM, Trainer, TrainerCallback, TrainingArguments

    from peercorpus.finetune.run_folder import load_run

    asked, has_gpu = load_run(folder).asked, torch.cuda.is_available()
    recipe = asked.recipe
    dtype = torch.bfloat16 if has_gpu else torch.float32
    model = AutoModelForCausalLM.from_pretrained(asked.request.model, dtype=dtype)
    model.enable_input_require_grads()
    lora = LoraConfig(r=recipe.lora.rank, lora_alpha=recipe.lora.alpha, target_modules="all-linear")

    class Ticking(TrainerCallback):  # type: ignore[misc]
        def on_step_end(self, *_: object, **__: object) -> None:
            tick()

    Trainer(
        model=get_peft_model(model, lora),
        args=TrainingArguments(
            output_dir=str(folder / "plain"),
            learning_rate=recipe.learning_rate,
            lr_scheduler_type=recipe.schedule,
            num_train_epochs=recipe.epochs,
            per_device_train_batch_size=recipe.per_device,
            gradient_accumulation_steps=recipe.batch // recipe.per_device,
            activation_checkpointing=recipe.checkpointing,
            bf16=has_gpu,
            use_cpu=not has_gpu,
            save_strategy="no",
            report_to="none",
            disable_tqdm=True,
        ),
        train_dataset=Dataset.from_file(str(folder / "data" / "train.arrow")).with_format("torch"),
        callbacks=[Ticking()],
    ).train()


CHAT = (
    "{% for one in messages %}<|{{ one['role'] }}|>{{ one['content'] }}<end>{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
VOCABULARY = 16_000
LEARNT_FROM = 50
"""Papers whose words make the tokenizer."""
PAPERS = (200, 800)
PAPER_TOKENS = (12_288, 8_192)
"""Of a paper at most: as many as the default recipe has, which cut few of these, and so few that all are cut."""


def _write_tokenizer(folder: Path, release: Path) -> None:
    """A byte-level BPE as LLaMA-3 and Qwen2 have, of the corpus's own words."""
    from itertools import islice

    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    from transformers import PreTrainedTokenizerFast

    from peercorpus.release.folder import open_release

    tokens = Tokenizer(models.BPE())
    tokens.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    alphabet = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY, special_tokens=["<end>"], initial_alphabet=alphabet, show_progress=False
    )
    rows = open_release(release).rows("review_sft", "train", ("markdown",))
    tokens.train_from_iterator((row["markdown"] for row in islice(rows, LEARNT_FROM)), trainer)
    PreTrainedTokenizerFast(tokenizer_object=tokens, eos_token="<end>", chat_template=CHAT).save_pretrained(folder)


def _publish(corpus: Path, release: Path) -> None:
    from peercorpus.release.publish import publish_release
    from peercorpus.workspace.workspace import open_workspace

    with open_workspace(corpus, write=False) as workspace:
        publish_release(workspace, release)


def _prepare(release: Path, model: Path, out: Path, paper_tokens: int) -> None:
    """Examples of a release, in this process; prints how many, their tokens and the peak of memory as JSON."""
    import resource

    from peercorpus.finetune.request import TuneRequest
    from peercorpus.finetune.run import prepare_run

    began = time.perf_counter()
    told: list[str] = []
    recipe = out.with_suffix(".toml")
    recipe.write_text(f"paper_tokens = {paper_tokens}\n", encoding="utf-8")
    made = prepare_run(release, out, TuneRequest(task="review", model=str(model), recipe=recipe), told.append)
    seconds = time.perf_counter() - began
    listed = map(json.loads, (out / "data" / "examples.jsonl").read_text(encoding="utf-8").splitlines())
    tokens, cut = zip(*((one["tokens"], one["paper_left_out"] > 0) for one in listed), strict=True)
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    found = {
        "examples": sum(made.examples.values()),
        "tokens": sum(tokens),
        "cut": sum(cut),
        "s": seconds,
        "peak": peak,
    }
    print(json.dumps(found))


def measure_preparing(scratch: Path) -> None:
    """Print a table: examples of reviews with papers of 60 kB, in the default recipe, each in a separate process."""
    import publishing

    print("\n| papers | tokens of each at most | examples | cut | s | examples/s | tokens/s | peak MB |")
    print("|--:|--:|--:|--:|--:|--:|--:|--:|")
    for papers in PAPERS:
        folder = scratch / str(papers)
        publishing.fill(folder / "corpus", papers)
        _publish(folder / "corpus", folder / "release")
        _write_tokenizer(folder / "model", folder / "release")
        for most in PAPER_TOKENS:
            names = (str(folder / name) for name in ("release", "model", f"out-{most}"))
            command = [sys.executable, __file__, "prepare", *names, str(most)]
            ended = subprocess.run(command, stdout=subprocess.PIPE, text=True, encoding="utf-8", check=True)
            one = json.loads(ended.stdout.splitlines()[-1])
            print(
                f"| {papers:,} | {most:,} | {one['examples']:,} | {one['cut']:,} | {one['s']:.1f}"
                f" | {one['examples'] / one['s']:.1f} | {one['tokens'] / one['s']:,.0f} | {one['peak'] / 1e6:,.0f} |",
                flush=True,
            )


def _measure(way: str, folder: Path) -> None:
    """One way in this process; prints tokens a second and the peak of memory as JSON."""
    import resource

    import torch

    ticks: list[float] = []
    {"ours": _ours, "plain Trainer": _plain}[way](folder, lambda: ticks.append(time.perf_counter()))
    size = _size()
    tokens = (len(ticks) - 1) * size.context * size.recipe["batch"]
    peak = torch.cuda.max_memory_allocated() if torch.cuda.is_available() else None
    held = peak or resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    print(json.dumps({"tokens_s": tokens / (ticks[-1] - ticks[0]), "peak_bytes": held}))


def measure_tuning(scratch: Path) -> None:
    """Print a table of both ways: each in a separate process, turn by turn, the best of the rounds."""
    size, best = _size(), dict[str, tuple[float, int]]()
    _write_model(scratch / "model", size)
    for number in range(ROUNDS):
        for way in WAYS:
            folder = scratch / f"{way.partition(' ')[0]}-{number}"
            _write_run(folder, scratch / "model", size)
            ended = subprocess.run(
                [sys.executable, __file__, way, str(folder)],
                stdout=subprocess.PIPE,
                text=True,
                encoding="utf-8",
                check=True,
            )
            found = json.loads(ended.stdout.splitlines()[-1])
            tokens_s, peak = best.get(way, (0.0, 10**18))
            best[way] = max(tokens_s, found["tokens_s"]), min(peak, found["peak_bytes"])
    print(f"\n{size.says}, examples of {size.context:,} tokens of which {ANSWER} are learnt\n")
    print("| way | tokens/s | of the plain Trainer | peak memory, MB | of the plain Trainer |\n|---|--:|--:|--:|--:|")
    plain = best["plain Trainer"]
    for way, (tokens_s, peak) in best.items():
        print(f"| {way} | {tokens_s:,.0f} | {tokens_s / plain[0]:.2f} | {peak / 1e6:,.0f} | {peak / plain[1]:.2f} |")


if __name__ == "__main__":
    if sys.argv[1] == "prepare":
        _prepare(Path(sys.argv[2]), Path(sys.argv[3]), Path(sys.argv[4]), int(sys.argv[5]))
    else:
        _measure(sys.argv[1], Path(sys.argv[2]))
