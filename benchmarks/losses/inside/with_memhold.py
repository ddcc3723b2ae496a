"""Memhold: messages into the journal, its own worker behind them, one model for consolidation, nothing else set."""

from __future__ import annotations

from typing import Any


class _Memhold:
    def __init__(self, name: str, folder: str, url: str) -> None:
        from memhold import Memhold

        settings: dict[str, Any] = {} if "+alone" in name else {"consolidation": f"{url}#chat"}
        if "+embedder" in name:
            settings["embedding"] = f"{url}#vectors"
        if "+words" in name:
            settings = {"embedding": "none"}
        self.store = Memhold.open(f"{folder}/memory.db", **settings)

    def _scope(self, user: str) -> Any:
        return self.store.scope(user=user, session=f"{user}-today")

    def add(self, user: str, messages: list[dict[str, str]], key: str) -> int:
        return len(self._scope(user).add(messages, idempotency_key=key).ids)

    def all(self, user: str) -> list[list[str]]:
        scope, found = self._scope(user), []
        found = [["message", one.content or ""] for one in scope.messages(limit=1000)]
        cursor = None
        while True:
            page = scope.list(limit=200, cursor=cursor)
            found += [[str(one.kind), one.text] for one in page.items]
            cursor = page.cursor
            if cursor is None:
                return found

    def ask(self, user: str, question: str, limit: int) -> list[dict[str, Any]]:
        hits = self._scope(user).recall(question, limit=limit).hits
        return [{"text": one.text, "old": one.superseded_by is not None or bool(one.outdated)} for one in hits]

    def forget(self, user: str, word: str) -> int:
        """One after the other, since what stands on a message goes with it."""
        scope, gone = self._scope(user), 0
        while named := [one.id for one in scope.recall(word, limit=50).hits if word in one.text]:
            scope.forget(named[0])
            gone += 1
        return gone

    def settle(self, seconds: float) -> bool:
        for user in ("ann", "ben"):
            self._scope(user).end_session()
        self.store.settle(timeout=seconds)
        return True

    def close(self) -> None:
        self.store.close()


def opened(name: str, folder: str, url: str) -> _Memhold:
    """A store in this folder."""
    return _Memhold(name, folder, url)
