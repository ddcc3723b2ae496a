"""OpenAI's Agents SDK on `MemholdSession`: a runner with a model that answers from a list, in two processes."""

from __future__ import annotations

import asyncio
import logging
import sys
import time
from pathlib import Path
from typing import Any

from agents import Agent, Runner, function_tool, set_tracing_disabled
from agents.testing import ScriptedModel, assistant_message, function_call

from memhold import Memhold
from memhold.integrations.openai_agents import MemholdSession


@function_tool
def weather(city: str) -> str:
    """The weather of a city."""
    return f"sunny in {city}"


def main(mode: str, folder: Path) -> None:
    """See `reality.frameworks`."""
    set_tracing_disabled(disabled=True)  # it would call out
    mem = Memhold.open(folder / "memory.db", worker=False)
    session = MemholdSession("chat-1", mem, user="alice")
    model = ScriptedModel()
    agent = Agent(name="helper", model=model, tools=[weather])
    if mode == "first":
        model.extend(
            [[function_call("weather", {"city": "Lisbon"}, call_id="c1")], [assistant_message("It is sunny.")]]
        )
        done = Runner.run_sync(agent, "I moved to Lisbon. How is the weather?", session=session)
        assert done.final_output == "It is sunny."
        print("told", flush=True)
        time.sleep(600)
    elif mode == "second":
        kinds = [one.get("type", one.get("role")) for one in asyncio.run(session.get_items())]
        assert kinds == ["user", "function_call", "function_call_output", "message"], kinds
        model.extend([[assistant_message("In Lisbon.")], [assistant_message("Still in Lisbon.")]])
        asyncio.run(Runner.run(agent, "Where do I live?", session=session))
        assert "sunny in Lisbon" in str(model.last_call), "the run before the kill is in what the model is shown"
        assert "Lisbon" in mem.scope(user="alice").recall("where did she move").hits[0].text
        without(session, agent, mem)
    mem.close()


def without(session: MemholdSession, agent: Any, mem: Memhold) -> None:
    """A store that is gone ends no run: the log says so, once, and the items wait."""
    said: list[str] = []
    handler = logging.Handler()
    handler.emit = lambda record: said.append(record.getMessage())  # type: ignore[method-assign]
    logging.getLogger("memhold.integrations").addHandler(handler)
    mem.close()
    done = asyncio.run(Runner.run(agent, "And now?", session=session))
    assert done.final_output == "Still in Lisbon."
    assert len(asyncio.run(session.get_items())) == 2
    assert len(said) == 1, said


if __name__ == "__main__":
    main(sys.argv[1], Path(sys.argv[2]))
