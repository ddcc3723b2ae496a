"""Embeddings by name whose official files are fetched once: pinned by hash, so it does not matter where they come from.

Only the weights and the vocabulary are fetched. How they are put together (pooling, longest text, prefixes) is a fact
of the model and stands here; it is written beside them as sentence-transformers does, for `DirectoryEmbedding`.
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
    """A published embedding: where it is, under which licence, its files, and how they are put together.

    `query_prefix` and `document_prefix` stand before each text, where the model was trained so.
    """

    name: str
    label: str
    licence: str
    home: str
    files: Sequence[PinnedFile]
    recipe: Mapping[str, Any]
    query_prefix: str = ""
    document_prefix: str = ""

    @property
    def size(self) -> int:
        """Bytes of its files."""
        return sum(one.size for one in self.files)


_MODULES = [
    {"idx": 0, "name": "0", "path": "", "type": "sentence_transformers.models.Transformer"},
    {"idx": 1, "name": "1", "path": "1_Pooling", "type": "sentence_transformers.models.Pooling"},
    {"idx": 2, "name": "2", "path": "2_Normalize", "type": "sentence_transformers.models.Normalize"},
]


def _recipe(transformer: Mapping[str, Any], *, longest: int) -> Mapping[str, Any]:
    """The files beside the weights: mean of the tokens, lower case, at most so many tokens a text."""
    return {
        "config.json": transformer,
        "sentence_bert_config.json": {"max_seq_length": longest, "do_lower_case": False},
        "tokenizer_config.json": {"do_lower_case": True},
        "1_Pooling/config.json": {
            "word_embedding_dimension": transformer["hidden_size"],
            "pooling_mode_mean_tokens": True,
        },
        "modules.json": _MODULES,
    }


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
        recipe=_recipe(
            {
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
            longest=256,
        ),
    ),
    "mpnet": Official(
        name="mpnet",
        label="all-mpnet-base-v2, English, 768 dimensions",
        licence="Apache-2.0",
        home="https://huggingface.co/sentence-transformers/all-mpnet-base-v2/resolve/main/",
        files=(
            PinnedFile(
                name="model.safetensors",
                size=437_971_872,
                sha256="78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
            ),
            PinnedFile(
                name="vocab.txt",
                size=231_536,
                sha256="dbd90cb94e2247bd4d4ccaecbf616d2290e66691d7d5e5bb81f063c2d0649ada",
            ),
        ),
        recipe=_recipe(
            {
                "model_type": "mpnet",
                "hidden_act": "gelu",
                "hidden_size": 768,
                "intermediate_size": 3072,
                "layer_norm_eps": 1e-5,
                "max_position_embeddings": 514,
                "num_attention_heads": 12,
                "num_hidden_layers": 12,
                "vocab_size": 30527,
            },
            longest=384,
        ),
    ),
    "nomic": Official(
        name="nomic",
        label="nomic-embed-text-v1.5, English, 768 dimensions",
        licence="Apache-2.0",
        home="https://huggingface.co/nomic-ai/nomic-embed-text-v1.5-GGUF/resolve/main/",
        files=(
            PinnedFile(
                name="nomic-embed-text-v1.5.f16.gguf",
                size=274_290_560,
                sha256="f7af6f66802f4df86eda10fe9bbcfc75c39562bed48ef6ace719a251cf1c2fdb",
            ),
        ),
        recipe=_recipe({"model_type": "nomic-bert", "hidden_size": 768, "max_position_embeddings": 2048}, longest=2048),
        query_prefix="search_query: ",
        document_prefix="search_document: ",
    ),
}
"""By the name that `embedding` takes."""
