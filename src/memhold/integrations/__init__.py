"""Adapters: Memhold as the memory of frameworks that people use, one module a framework.

A framework is the user's own: it is imported where its module is, and where it is missing or too old the error says
what to install. An adapter needs nothing of Memhold but the core, and all of them have one shape:

- **Whose memory.** An adapter whose framework names neither users nor sessions takes a scope. One whose framework names
  them at each call, or that writes as more than one, takes the open store and the names that it is not told
  (`Reach.within`).
- **Sync and async.** It takes `Memhold` or `AsyncMemhold`. Over `Memhold` it works from anywhere: from code that is not
  async, from any event loop, and from one that is started anew for each run (`run_sync`). Over `AsyncMemhold` it works
  on the loop that opened it (`reach.Reach`).
- **When the store is gone.** What the agent or the program asked for (a tool, a put, a read by key) raises: nothing
  that is not durable looks as if it were. What happens without anybody asking (a turn is recorded, context is brought)
  never ends the turn: a line in the log says so once, what was to be written waits in the process in its order and is
  written once when the store is back, and what was to be read is left out (`record.Recorder`).
"""
