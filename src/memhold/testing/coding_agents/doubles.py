"""A coding agent without a model: it keeps a transcript and calls hooks as the real one does, when the test says so."""

from __future__ import annotations

import os
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from uuid import uuid4

from memhold.testing.coding_agents.protocols import EVENTS, Answer, Client, Told, told_at
from memhold.testing.coding_agents.running import Hook, Ran, hooks_in, run_hook
from memhold.testing.coding_agents.transcripts import Transcript

__all__ = ["CodingAgent", "Session"]


class CodingAgent:
    """A double of Claude Code, Codex or opencode in a folder, with a home of its own and the hooks that stand there.

    `environment` is added to this process's; the home folder is `home` in any case. `plugins` are folders of plug-ins
    of Claude Code's. Hooks are looked up at each event, so what is installed in between counts.
    """

    def __init__(
        self,
        client: Client,
        *,
        home: str | os.PathLike[str],
        folder: str | os.PathLike[str],
        environment: Mapping[str, str] | None = None,
        plugins: Sequence[str | os.PathLike[str]] = (),
    ) -> None:
        self.client: Client = client
        self.home, self.folder = Path(home).absolute(), Path(folder).absolute()
        self.plugins = tuple(Path(one).absolute() for one in plugins)
        self.environment = {**os.environ, **(environment or {}), "HOME": str(self.home)}
        if client == "claude-code":
            self.environment |= {"CLAUDECODE": "1", "CLAUDE_PROJECT_DIR": str(self.folder)}

    def hooks(self) -> list[Hook]:
        """The hooks that it would call now."""
        return hooks_in(self.client, self.home, self.folder, self.environment, self.plugins)

    def session(self) -> Session:
        """Begin a session: its hooks for that are called, those of opencode at the first prompt."""
        return Session(self)


class Session:
    """One conversation. Each step calls the hooks of its event and gives what came of them, as one answer.

    A test that wants a client that was killed calls nothing more.
    """

    def __init__(self, agent: CodingAgent) -> None:
        self._agent = agent
        self.id = f"ses_{uuid4().hex[:24]}" if agent.client == "opencode" else str(uuid4())
        self._transcript = Transcript(agent.client, self.id, agent.home, agent.folder, agent.environment)
        self.transcript = self._transcript.path
        self.window: list[tuple[str, str]] = []
        """What a model would be shown, in order, as (role, text); what hooks brought has the role "hook"."""
        self.ran: list[Ran] = []
        """Every hook that was called."""
        self.notices: list[str] = []
        """What the person was shown."""
        self._about = Told(
            session=self.id, transcript=str(self.transcript), folder=str(agent.folder), turn=str(uuid4())
        )
        self._starts: str | None = "startup"
        """How the session starts, as long as it has not been told so."""
        self._transcript.begins()
        if agent.client == "opencode":
            self._call("Wake")
        else:
            self._started()

    def prompt(self, text: str) -> Answer:
        """The person says something. A hook that refuses keeps it from the model, and from the transcript."""
        before = self._started()
        self._about = replace(self._about, turn=str(uuid4()), text=text)
        answer = self._call("UserPromptSubmit")
        if answer.refused is not None:
            return answer
        shown = "\n\n".join(one for one in (before, answer.context) if one)
        self._transcript.says("user", text, shown=shown)
        self.window += [("user", text), *([("hook", shown)] if shown else [])]
        return replace(answer, context=shown)

    def answer(self, text: str, *, late: bool = False) -> Answer:
        """The model says something, and the turn is over. With `late` its line is written after the hooks ran.

        That happens with Claude Code: a hook that reads the transcript then does not find the answer there.
        """
        self._about = replace(self._about, text=text)
        if not late:
            self._transcript.says("assistant", text)
        self.window.append(("assistant", text))
        stopped = self._call("Stop") if "Stop" in EVENTS[self._agent.client] else Answer()
        if late:
            self._transcript.says("assistant", text)
        return stopped

    def compact(self) -> Answer:
        """The window is made small: hooks before it, the window emptied, and the session's start anew.

        Raises:
            ValueError: it is Codex, whose compaction nobody could bring about, so that it is not played.
        """
        if "PreCompact" not in EVENTS[self._agent.client]:
            raise ValueError(f"what {self._agent.client} tells a hook before a compaction is not known")
        answer = self._call("PreCompact")
        if answer.refused is None:
            self.window.clear()
            self._starts = "compact"
            if self._agent.client != "opencode":
                self._started()
        return answer

    def end(self) -> Answer:
        """The person leaves. Codex calls no hook then."""
        return self._call("SessionEnd") if "SessionEnd" in EVENTS[self._agent.client] else Answer()

    def _started(self) -> str:
        """Call the hooks of a start that is due; what they bring, where it comes with the prompt (opencode)."""
        if self._starts is None:
            return ""
        self._about, self._starts = replace(self._about, source=self._starts), None
        context = self._call("SessionStart").context
        if self._agent.client == "opencode" or not context:
            return context
        self._transcript.shows(context)
        self.window.append(("hook", context))
        return ""

    def _call(self, event: str) -> Answer:
        about = self._about
        of = {"SessionStart": about.source, "PreCompact": "manual", "SessionEnd": "other"}.get(event, "")
        told = told_at(self._agent.client, event, about)
        found: list[Answer] = []
        for hook in self._agent.hooks():
            if hook.event == event and hook.is_for(of):
                ran = run_hook(self._agent.client, hook, told, self._agent.folder, self._agent.environment)
                self.ran.append(ran)
                found.append(ran.answer)
        self.notices += [one.notice for one in found if one.notice]
        return Answer(
            context="\n\n".join(one.context for one in found if one.context),
            notice="\n".join(one.notice for one in found if one.notice),
            refused=next((one.refused for one in found if one.refused is not None), None),
        )
