"""Tiny generated models with random weights: a BERT, a sentence-transformers model, and a LLaMA that writes."""

from collections.abc import Sequence
from pathlib import Path

LAYERS = 3
WINDOW = 24
WORDS = (
    "paper",
    "method",
    "review",
    "the",
    "is",
    "new",
    "clear",
    "not",
    "we",
    "find",
    "a",
    "seed",
    "##s",
    ".",
    ",",
    "?",
)


def write_bert(folder: Path, window: int = WINDOW, family: str = "bert", layers: int = LAYERS) -> Path:
    """A BERT of a few layers whose vocabulary is letters and a few words; its tokenizer is limited to the window.

    The family `deberta` is that of Re²'s model: it uses distances between words, not positions.
    """
    import torch
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import AutoConfig, AutoModel, PreTrainedTokenizerFast

    letters = [form for letter in "abcdefghijklmnopqrstuvwxyz0123456789" for form in (letter, f"##{letter}")]
    marks = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]
    vocabulary = {word: number for number, word in enumerate(dict.fromkeys((*marks, *WORDS, *letters)))}
    tokens = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    tokens.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    tokens.post_processor = processors.BertProcessing(("[SEP]", vocabulary["[SEP]"]), ("[CLS]", vocabulary["[CLS]"]))
    named = {f"{mark[1:-1].lower()}_token": mark for mark in marks}
    PreTrainedTokenizerFast(tokenizer_object=tokens, model_max_length=window, **named).save_pretrained(folder)
    torch.manual_seed(0)
    config = AutoConfig.for_model(
        family,
        vocab_size=len(vocabulary),
        hidden_size=16,
        num_hidden_layers=layers,
        num_attention_heads=2,
        intermediate_size=32,
        max_position_embeddings=640,
        initializer_range=0.5,
        pad_token_id=0,
        **({"relative_attention": True, "pos_att_type": ["c2p", "p2c"]} if family == "deberta" else {}),
    )
    AutoModel.from_config(config).save_pretrained(folder)
    return folder


def write_sentence_model(folder: Path) -> Path:
    """The same with mean pooling."""
    from sentence_transformers import SentenceTransformer
    from sentence_transformers.sentence_transformer.modules import Pooling, Transformer

    words = Transformer(str(write_bert(folder / "words")), max_seq_length=WINDOW)
    SentenceTransformer(modules=[words, Pooling(16)]).save_pretrained(str(folder / "sentences"))
    return folder / "sentences"


CHAT = "{% for one in messages %}<|{{ one['role'] }}|>{{ one['content'] }}</s>{% endfor %}<|assistant|>"


def write_llama(folder: Path, texts: Sequence[str]) -> Path:
    """A LLaMA of two layers that writes at random, with a tokenizer that has learnt these texts."""
    import torch
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers
    from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

    tokens = Tokenizer(models.BPE())
    tokens.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokens.decoder = decoders.ByteLevel()
    marks = ["<s>", "</s>"]
    letters = pre_tokenizers.ByteLevel.alphabet()
    trainer = trainers.BpeTrainer(vocab_size=400, special_tokens=marks, initial_alphabet=letters, show_progress=False)
    tokens.train_from_iterator(texts, trainer)
    named = {"bos_token": "<s>", "eos_token": "</s>", "chat_template": CHAT}
    PreTrainedTokenizerFast(tokenizer_object=tokens, **named).save_pretrained(folder)
    torch.manual_seed(0)
    config = LlamaConfig(
        vocab_size=tokens.get_vocab_size(),
        hidden_size=16,
        intermediate_size=32,
        num_hidden_layers=2,
        num_attention_heads=2,
        max_position_embeddings=4_096,
        bos_token_id=0,
        eos_token_id=1,
        pad_token_id=1,
    )
    LlamaForCausalLM(config).save_pretrained(folder)
    return folder
