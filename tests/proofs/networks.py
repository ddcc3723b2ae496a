"""Network namespaces for processes that are to be on machines of their own, each with a link that can be cut."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
from collections.abc import Iterator


class Link:
    """One namespace: `ours` is this side's address in it, `theirs` the one of what runs inside."""

    def __init__(self, number: int) -> None:
        self._name, self._device = f"mem{os.getpid()}n{number}", f"mem{os.getpid()}v{number}"
        # 198.18.0.0/15 is for tests between networks (RFC 2544): nothing else is there.
        first = f"198.18.{os.getpid() % 250}"
        self.ours, self.theirs = f"{first}.{4 * number + 1}", f"{first}.{4 * number + 2}"
        self.network = f"{first}.0/24"
        self.inside = ("ip", "netns", "exec", self._name)
        """Stands before a command that is to run inside; it becomes the command, under the same process id."""

    def make(self) -> None:
        _ip("netns", "add", self._name)
        _ip("link", "add", self._device, "type", "veth", "peer", "name", "eth0", "netns", self._name)
        _ip("addr", "add", f"{self.ours}/30", "dev", self._device)
        _ip("link", "set", self._device, "up")
        _ip("-n", self._name, "addr", "add", f"{self.theirs}/30", "dev", "eth0")
        for device in ("eth0", "lo"):
            _ip("-n", self._name, "link", "set", device, "up")
        _ip("netns", "exec", self._name, "true")

    def remove(self) -> None:
        with contextlib.suppress(RuntimeError):
            _ip("netns", "del", self._name)

    def cut(self) -> None:
        """Packets are lost from now on, and nobody is told."""
        # The end inside: without the route through ours, packets would leave for networks that are not ours.
        _ip("-n", self._name, "link", "set", "eth0", "down")

    def mend(self) -> None:
        _ip("-n", self._name, "link", "set", "eth0", "up")


def _ip(*words: str) -> None:
    done = subprocess.run(["ip", *words], capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(f"ip {' '.join(words)}: {done.stderr.strip()}")


@contextlib.contextmanager
def links(count: int) -> Iterator[list[Link]]:
    """Namespaces with their links; none where the machine does not allow them, which is said."""
    made: list[Link] = []
    try:
        if shutil.which("ip") is None:
            print("no network namespaces: there is no program 'ip'")
        else:
            try:
                for number in range(count):
                    made.append(Link(number))
                    made[-1].make()
            except RuntimeError as error:
                print(f"no network namespaces: {error}")
                for one in made:
                    one.remove()
                made.clear()
        yield made
    finally:
        for one in made:
            one.remove()
