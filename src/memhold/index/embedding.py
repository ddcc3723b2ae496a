"""Texts to vectors of one generation: the configured model, opened late, with its common part taken away.

Sentence vectors of most models share a large part that says nothing: two texts without anything in common still have
a cosine well above zero. The mean vector of a fixed set of everyday sentences is that part, and is subtracted from
every vector before it is stored or compared. Idea: Mu and Viswanath, "All-but-the-Top" (2018), who subtract the mean
of the vocabulary; measured in docs/recall.md.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING

from memhold.index.questions import Questions

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from memhold.ports.models import EmbeddingModel

    Matrix = NDArray[np.float32]

__all__ = ["BACKGROUND", "Embedding"]

BACKGROUND = (
    "Hello, how are you today?",
    "Thank you, that is very kind of you.",
    "I went to the shop and bought some bread.",
    "What do you think about it?",
    "We had dinner with friends last weekend.",
    "She started a new job at a hospital.",
    "Could you help me with this problem?",
    "The meeting was moved to Thursday afternoon.",
    "My brother lives in another city.",
    "I am planning a trip for the summer.",
    "It has been raining all week here.",
    "He likes to play the guitar in the evening.",
    "The file could not be opened because of an error.",
    "Here is a list of the next steps.",
    "They watched a film and went home late.",
    "I feel a bit tired, but I am happy.",
    "Please remind me to call the doctor tomorrow.",
    "The children are learning to swim.",
    "We need to finish the report before the end of the month.",
    "That sounds great, let me know how it goes.",
    "The price went up by ten percent.",
    "I read an interesting book about history.",
    "Our dog loves long walks in the park.",
    "You can change this in the settings.",
)
"""Everyday sentences about nothing in particular; another set would be another generation."""

_CENTRED = "/centred-1/sentences-1"
_LEAST_LENGTH = 1e-6


class Embedding:
    """The configured embedding: opened at the first use, and told apart by its fingerprint.

    `questions` asks for the vector of a question within a time.

    Args:
        open_model: gives the model; called once it is needed, and again where it failed.
        late: is told of a question that was not answered in so many seconds.
    """

    def __init__(
        self, open_model: Callable[[], Awaitable[EmbeddingModel]], late: Callable[[float], None] | None = None
    ) -> None:
        self._open_model = open_model
        self._model: EmbeddingModel | None = None
        self._centre: Matrix | None = None
        self.questions = Questions(self.query, late)

    async def fingerprint(self) -> str:
        """Which generation its vectors belong to.

        Raises:
            ModelError, InvalidSetting: the model cannot be opened.
        """
        return (await self._opened()).fingerprint + _CENTRED

    async def dimension(self) -> int:
        """The length of its vectors."""
        return len(await self._middle())

    async def static(self) -> bool:
        """Whether its vectors are sums of word vectors: a sentence of them is told by few words, and counts less."""
        return bool(getattr(await self._opened(), "static", False))

    async def room(self) -> int | None:
        """The longest text, in characters, that the model takes in one piece; None where it does not say."""
        room = getattr(await self._opened(), "max_chars", None)
        return room if isinstance(room, int) else None

    async def documents(self, texts: Sequence[str]) -> list[bytes | None]:
        """A vector for each text, as a store keeps that of a document with this one alone.

        None for a text that the model does not take although it takes others.

        Raises:
            ModelError: the call failed, and no text is the reason; nothing of the batch was embedded.
        """
        from memhold.index.isolate_failures import embed_isolating_failures
        from memhold.ports.vector_records import record_each

        centre, model = await self._middle(), await self._opened()
        apart = await embed_isolating_failures(model, texts)
        if apart.poisoned and not apart.indices:
            # Nothing went through: is it the texts or the model? This raises where it is the model.
            await model.embed(BACKGROUND[:1], purpose="document")
        if apart.indices:
            self.questions.answers()
        records = record_each(_centred(apart.vectors, centre)) if apart.indices else []
        found: list[bytes | None] = [None] * len(texts)
        for index, record in zip(apart.indices, records, strict=True):
            found[index] = record
        return found

    async def key_fingerprint(self) -> str:
        """Which model the vectors of keys are of; they are not centred.

        Raises:
            ModelError, InvalidSetting: the model cannot be opened.
        """
        return (await self._opened()).fingerprint

    async def keys(self, texts: Sequence[str]) -> list[bytes]:
        """A vector for each key of a fact, as the model gives it: little-endian float32, unit length. One call.

        Raises:
            ModelError: the call failed; nothing was embedded.
        """
        vectors = await (await self._opened()).embed(texts, purpose="document")
        return [row.tobytes() for row in vectors.astype("<f4")]

    async def query(self, text: str) -> Matrix:
        """The vector of a question, float32, unit length.

        Raises:
            ModelError: the call failed.
        """
        centre = await self._middle()
        vector: Matrix = _centred(await (await self._opened()).embed([text], purpose="query"), centre)[0]
        return vector

    async def _opened(self) -> EmbeddingModel:
        if self._model is None:
            self._model = await self._open_model()
        return self._model

    async def _middle(self) -> Matrix:
        if self._centre is None:
            found = await (await self._opened()).embed(BACKGROUND, purpose="document")
            self._centre = found.mean(axis=0)
        return self._centre


def _centred(vectors: Matrix, centre: Matrix) -> Matrix:
    import numpy as np

    moved = vectors - centre
    lengths = np.sqrt((moved * moved).sum(axis=1, keepdims=True))
    # A text that is the common part itself keeps its own direction.
    moved = np.where(lengths < _LEAST_LENGTH, vectors, moved / np.maximum(lengths, np.float32(_LEAST_LENGTH)))
    unit: Matrix = moved.astype(np.float32)
    return unit
