"""Tiny generated chat models with random weights, whose tokenizers mark turns like LLaMA-3's and Qwen2's."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

from baseline_cases import words
from peercorpus.models import prompts

LLAMA_BOS, LLAMA_END = "<|begin_of_text|>", "<|eot_id|>"
LLAMA_MARKS = (LLAMA_BOS, "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", LLAMA_END)
LLAMA_CHAT = (
    "{% for one in messages %}{% if loop.first %}{{ bos_token }}{% endif %}"
    "{{ '<|start_header_id|>' + one['role'] + '<|end_header_id|>\n\n' + one['content'] | trim + '<|eot_id|>' }}"
    "{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|start_header_id|>assistant<|end_header_id|>\n\n' }}{% endif %}"
)
QWEN_PAD, QWEN_END = "<|endoftext|>", "<|im_end|>"
QWEN_MARKS = (QWEN_PAD, "<|im_start|>", QWEN_END)
QWEN_CHAT = (
    "{% for one in messages %}"
    "{% if loop.first and one['role'] != 'system' %}"
    "{{ '<|im_start|>system\nYou are a helpful assistant.<|im_end|>\n' }}{% endif %}"
    "{{ '<|im_start|>' + one['role'] + '\n' + one['content'] + '<|im_end|>\n' }}{% endfor %}"
    "{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}"
)
WINDOW = 8_192
SIZE: dict[str, Any] = {
    "hidden_size": 64,
    "intermediate_size": 128,
    "num_hidden_layers": 2,
    "num_attention_heads": 4,
    "num_key_value_heads": 2,
    "max_position_embeddings": WINDOW,
    "initializer_range": 0.15,
    "tie_word_embeddings": False,
}
"""Spread of the weights: wide enough for different answers to different questions, and for a LoRA to learn fast."""


def _texts() -> list[str]:
    """Training text of the tokenizers: the words of prompts, of invented papers and of answers."""
    told = [prompts.ACCEPTANCE, prompts.SCORES, prompts.REVIEW, prompts.REVIEWER, prompts.ASKED_SCORES]
    answers = ['{"decision": "accept"}', '{"decision": "reject"}', '{"rating": 3, "soundness": 3}'] * 8
    return [*told, *answers, *(words(seed, 40) for seed in range(40))]


def _tokens(texts: Sequence[str], marks: Sequence[str]) -> Any:
    """A byte-level BPE, as in both families, without unknown tokens."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokens = Tokenizer(models.BPE())
    tokens.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokens.decoder = decoders.ByteLevel()
    letters = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(
        vocab_size=640, special_tokens=list(marks), initial_alphabet=letters, show_progress=False
    )
    tokens.train_from_iterator(texts, trainer)
    return tokens


def write_tiny_llama(folder: Path) -> Path:
    """A LLaMA of two layers; like LLaMA-3's, its tokenizer begins every text with a mark, and has no padding token."""
    import torch
    from tokenizers import processors
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    tokens = _tokens(_texts(), LLAMA_MARKS)
    begin = tokens.token_to_id(LLAMA_BOS)
    tokens.post_processor = processors.TemplateProcessing(
        single=f"{LLAMA_BOS} $A", pair=f"{LLAMA_BOS} $A {LLAMA_BOS} $B", special_tokens=[(LLAMA_BOS, begin)]
    )
    named = {"bos_token": LLAMA_BOS, "eos_token": LLAMA_END, "chat_template": LLAMA_CHAT}
    PreTrainedTokenizerFast(tokenizer_object=tokens, **named).save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=tokens.get_vocab_size(), bos_token_id=begin, eos_token_id=tokens.token_to_id(LLAMA_END), **SIZE
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder


def write_tiny_qwen(folder: Path) -> Path:
    """A Qwen2 of two layers; as in Qwen2, no text begins with a mark, and every conversation has a system message."""
    import torch
    from transformers import AutoTokenizer, PreTrainedTokenizerFast, Qwen2Config, Qwen2ForCausalLM

    tokens = _tokens(_texts(), QWEN_MARKS)
    named = {"eos_token": QWEN_END, "pad_token": QWEN_PAD, "chat_template": QWEN_CHAT}
    PreTrainedTokenizerFast(tokenizer_object=tokens, **named).save_pretrained(folder)
    torch.manual_seed(0)
    config = Qwen2Config(
        vocab_size=tokens.get_vocab_size(),
        bos_token_id=None,
        eos_token_id=tokens.token_to_id(QWEN_END),
        pad_token_id=tokens.token_to_id(QWEN_PAD),
        **SIZE,
    )
    Qwen2ForCausalLM(config).save_pretrained(folder)
    # As read by transformers, which splits words as Qwen2 does whatever the file states.
    AutoTokenizer.from_pretrained(folder).save_pretrained(folder)
    return folder
