"""Each trainer opens an export with its own loader, unchanged, on a CPU and offline.

A trainer needs half a gigabyte or more, and pinned versions; `PEERCORPUS_TRL`, `PEERCORPUS_LLAMA_FACTORY` and
`PEERCORPUS_AXOLOTL` name the Python of an environment that has it. Without them this one is tried.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from invented_releases import a_release, review, task_paper
from peercorpus.release.exports.export import export_release
from peercorpus.release.exports.formats import ExportLayout
from peercorpus.release.exports.request import ExportRequest

# A tokenizer of single bytes with a chat template that marks the assistant's text, and a model of random weights.
TOKENIZER = """
import sys
from pathlib import Path
from tokenizers import Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, PreTrainedTokenizerFast
folder, scratch = Path(sys.argv[1]), Path(sys.argv[2])
SPECIAL = ["<unk>", "<pad>", "<|im_start|>", "<|im_end|>"]
letters = sorted(pre_tokenizers.ByteLevel.alphabet())
core = Tokenizer(models.BPE({token: number for number, token in enumerate(SPECIAL + letters)}, []))
core.pre_tokenizer, core.decoder = pre_tokenizers.ByteLevel(add_prefix_space=False), decoders.ByteLevel()
template = (
    "{% for message in messages %}<|im_start|>{{ message['role'] }}\\n{% if message['role'] == 'assistant' %}"
    "{% generation %}{{ message['content'] }}<|im_end|>{% endgeneration %}{% else %}{{ message['content'] }}<|im_end|>"
    "{% endif %}\\n{% endfor %}{% if add_generation_prompt %}<|im_start|>assistant\\n{% endif %}"
)
tokenizer = PreTrainedTokenizerFast(
    tokenizer_object=core, unk_token="<unk>", pad_token="<pad>", eos_token="<|im_end|>", chat_template=template,
    additional_special_tokens=["<|im_start|>"],
)
config = LlamaConfig(vocab_size=len(tokenizer), hidden_size=8, intermediate_size=8, num_hidden_layers=1,
                     num_attention_heads=1, max_position_embeddings=4096)
tokenizer.save_pretrained(scratch / "model")
config.save_pretrained(scratch / "model")

def trained(row):
    return tokenizer.decode([token for token in row["labels"] if token != -100])

def whole(row):
    return tokenizer.decode(row["input_ids"])
"""
TRL = (
    TOKENIZER
    + """
from datasets import load_dataset
from transformers import LlamaForCausalLM
from trl import SFTConfig, SFTTrainer

rows = load_dataset("json", data_files={
    split: [str(folder / f"{task}_{split}.jsonl") for task in ("review",)] for split in ("train", "validation", "test")
})
assert {name: of_split.num_rows for name, of_split in rows.items()} == {"train": 3, "validation": 1, "test": 1}, rows
told = load_dataset("json", data_files={"train": str(folder / "rebuttal_train.jsonl")})
for data, answers in ((rows, ["rating: 5: Weak Reject"]), (told, ["I doubt it.", "I see."])):
    settings = SFTConfig(output_dir=str(scratch / "out"), max_steps=1, per_device_train_batch_size=1, use_cpu=True,
                         report_to=[], save_strategy="no", max_length=None, assistant_only_loss=True, bf16=False)
    trainer = SFTTrainer(LlamaForCausalLM(config), settings, train_dataset=data["train"],
                         eval_dataset=data.get("validation"), processing_class=tokenizer)
    row = trainer.train_dataset[0]
    said = trained(row)
    assert all(answer in said for answer in answers) and "We fly." not in said, said
    assert "We fly." in whole(row)
    assert trainer.train().global_step == 1
# What the README warns of.
longer = rows["train"].map(lambda row: {"messages": [
    message | {"content": message["content"] + "x" * 1024 * (message["role"] == "user")} for message in row["messages"]
]})
settings = SFTConfig(output_dir=str(scratch / "out"), use_cpu=True, bf16=False, report_to=[])
cut = SFTTrainer(LlamaForCausalLM(config), settings, train_dataset=longer, processing_class=tokenizer)
batch = cut.data_collator([cut.train_dataset[0]])
assert "We fly." in tokenizer.decode(batch["input_ids"][0])
assert "rating" not in tokenizer.decode(batch["input_ids"][0])
print("opened")
"""
)
LLAMA_FACTORY = (
    TOKENIZER
    + """
from llamafactory.data import get_dataset, get_template_and_fix_tokenizer
from llamafactory.hparams import get_train_args

def opened(names, held):
    model, data, training, _, _ = get_train_args({
        "stage": "sft", "do_train": True, "model_name_or_path": str(scratch / "model"), "dataset_dir": str(folder),
        "dataset": names, "eval_dataset": held, "template": "qwen", "cutoff_len": 32768, "finetuning_type": "full",
        "output_dir": str(scratch / "out"), "use_cpu": True, "overwrite_cache": True, "report_to": "none",
    })
    template = get_template_and_fix_tokenizer(tokenizer, data)
    found = get_dataset(template, model, data, training, stage="sft", tokenizer=tokenizer)
    return found["train_dataset"], found["eval_dataset"]

train, validation = opened("peercorpus_review_train", "peercorpus_review_validation")
assert (len(train), len(validation)) == (3, 1)
assert "rating: 5: Weak Reject" in trained(train[0]) and "We fly." not in trained(train[0])
assert "We fly." in whole(train[0]) and "You write your review" in whole(train[0])
train, _ = opened("peercorpus_rebuttal_train,peercorpus_rebuttal_test", "peercorpus_rebuttal_validation")
assert len(train) == 4
assert "I doubt it." in trained(train[0]) and "I see." in trained(train[0]) and "It holds." not in trained(train[0])
print("opened")
"""
)
AXOLOTL = (
    TOKENIZER
    + """
import os
import yaml
from axolotl.utils.config import normalize_config, validate_config
from axolotl.utils.data import prepare_datasets
from axolotl.utils.dict import DictDefault

os.chdir(folder)
part = yaml.safe_load(Path("axolotl.yaml").read_text())
assert [entry["path"] for entry in part["test_datasets"]] == ["review_validation.jsonl", "rebuttal_validation.jsonl"]
cfg = DictDefault(part | {
    "base_model": str(scratch / "model"), "sequence_len": 32768, "micro_batch_size": 1, "num_epochs": 1,
    "gradient_accumulation_steps": 1, "learning_rate": 1e-5, "dataset_prepared_path": str(scratch / "prepared"),
    "output_dir": str(scratch / "out"), "dataset_num_proc": 1,
})
cfg = validate_config(cfg)
normalize_config(cfg)
train, validation, steps, _ = prepare_datasets(cfg, tokenizer)
assert (len(train), len(validation)) == (6, 2), (train, validation)
said = sorted(map(trained, train))
assert not any("We fly." in one or "It holds." in one for one in said), said
assert sum("rating: 5: Weak Reject" in one for one in said) == 3, said
assert sum("I doubt it." in one and "I see." in one for one in said) == 3, said
assert all("We fly." in whole(row) for row in train)
print("opened")
"""
)


def run(python: str, script: str, tmp_path: Path, *arguments: str) -> None:
    offline = {"HF_HUB_OFFLINE": "1", "HF_HOME": str(tmp_path / "home"), "AXOLOTL_DO_NOT_TRACK": "1"}
    known = {name: value for name, value in os.environ.items() if name != "PYTHONPATH"}
    command = [python, "-W", "ignore", "-c", script, *arguments]
    done = subprocess.run(command, env=known | offline, capture_output=True, text=True, check=False, timeout=500)
    assert done.stdout.endswith("opened\n"), done.stdout[-2000:] + done.stderr[-6000:]


def opens(layout: ExportLayout, package: str, script: str, tmp_path: Path) -> None:
    """Export a release and open it in the environment that has the package; skip if none has."""
    variable = f"PEERCORPUS_{layout.upper().replace('-', '_')}"
    python = os.environ.get(variable, sys.executable)
    found = subprocess.run(
        [python, "-c", f"import importlib.util as u; assert u.find_spec('{package}')"], check=False, capture_output=True
    )
    if found.returncode:
        pytest.skip(f"{package} is not installed here, and {variable} names no Python that has it")
    two = [review("a"), review("b")]
    papers = {"train": [task_paper("t1", reviews=two), task_paper("t2"), task_paper("t3", reviews=[])]}
    papers |= {split: [task_paper(f"{split[0]}9")] for split in ("validation", "test")}
    export_release(a_release(tmp_path / "release", papers), tmp_path / "out", ExportRequest(format=layout))
    (tmp_path / "scratch").mkdir()
    run(python, script, tmp_path, str(tmp_path / "out"), str(tmp_path / "scratch"))


@pytest.mark.slow
def test_trl_opens_it_and_takes_a_step(tmp_path: Path) -> None:
    opens(ExportLayout.TRL, "trl", TRL, tmp_path)


def test_llama_factory_opens_it_by_name(tmp_path: Path) -> None:
    opens(ExportLayout.LLAMA_FACTORY, "llamafactory", LLAMA_FACTORY, tmp_path)


def test_axolotl_opens_it_by_its_part_of_a_configuration(tmp_path: Path) -> None:
    opens(ExportLayout.AXOLOTL, "axolotl", AXOLOTL, tmp_path)
