"""Tiny local models, made once."""

from pathlib import Path

import pytest

from tiny_encoders import write_bert, write_sentence_model


@pytest.fixture(scope="session")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny BERT."""
    pytest.importorskip("torch", reason="PyTorch is not installed")
    pytest.importorskip("transformers", reason="transformers is not installed")
    return write_bert(tmp_path_factory.mktemp("bert"))


@pytest.fixture(scope="session")
def sentence_model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A tiny sentence model."""
    pytest.importorskip("torch", reason="PyTorch is not installed")
    pytest.importorskip("sentence_transformers", reason="sentence-transformers is not installed")
    return write_sentence_model(tmp_path_factory.mktemp("sentences"))
