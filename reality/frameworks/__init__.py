"""What each adapter is proved with: `NAME.in` says what is installed, `NAME.lock` pins it, `NAME.py` is the proof.

`NAME.py first FOLDER` uses the framework with a model that needs no network, prints `told` once what it was told is
durable, and waits to be killed; `NAME.py second FOLDER` is a new process, and exits with 0 where the first one's memory
is there. `NAME.py writers FOLDER`, where eight can write at one place, and `NAME.py suite FOLDER`, where the framework
ships tests for what the adapter is, do so too.
"""
