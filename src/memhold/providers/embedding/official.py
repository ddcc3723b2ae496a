"""Embeddings by name whose official files are fetched once: pinned by hash, so it does not matter where they come from.

Only the weights and the vocabulary are fetched. How they are put together (pooling, longest text) is a fact of the
model and stands here; it is written beside them in the layout of sentence-transformers, for `DirectoryEmbedding`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["OFFICIAL", "Official", "PinnedFile"]


@dataclass(frozen=True, slots=True, kw_only=True)
class PinnedFile:
    """A file as its authors published it."""

    name: str
    size: int
    sha256: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Official:
    """A published embedding: where it is, under which licence, its files, and how they are put together."""

    name: str
    label: str
    licence: str
    home: str
    files: Sequence[PinnedFile]
    recipe: Mapping[str, Any]

    @property
    def size(self) -> int:
        """Bytes of its files."""
        return sum(one.size for one in self.files)


_MODULES = [
    {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
    {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
    {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
]

OFFICIAL: Mapping[str, Official] = {
    "minilm": Official(
        name="minilm",
        label="all-MiniLM-L6-v2, English, 384 dimensions",
        licence="Apache-2.0",
        home="https://huggingface.co/sentence-transformers/all-MiniLM-L6-v2/resolve/main/",
        files=(
            PinnedFile(
                name="model.safetensors",
                size=90_868_376,
                sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
            ),
            PinnedFile(
                name="vocab.txt",
                size=231_508,
                sha256="07eced375cec144d27c900241f3e339478dec958f92fddbc551f295c992038a3",
            ),
        ),
        recipe={
            "config.json": {
                "model_type": "bert",
                "hidden_act": "gelu",
                "hidden_size": 384,
                "intermediate_size": 1536,
                "layer_norm_eps": 1e-12,
                "max_position_embeddings": 512,
                "num_attention_heads": 12,
                "num_hidden_layers": 6,
                "type_vocab_size": 2,
                "vocab_size": 30522,
            },
            "sentence_bert_config.json": {"max_seq_length": 256, "do_lower_case": False},
            "tokenizer_config.json": {"do_lower_case": True},
            "1_Pooling/config.json": {"word_embedding_dimension": 384, "pooling_mode_mean_tokens": True},
            "modules.json": _MODULES,
        },
    ),
}
"""By the name that `embedding` takes."""
