"""Asks forking.py for a process, hands it our streams, passes signals on, and ends as it ended."""

import json
import os
import signal
import socket
import struct
import sys

PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGUSR1, signal.SIGUSR2)


def main(address: str, arguments: list[str]) -> None:
    """Ask, and end as what was begun for it."""
    with socket.socket(socket.AF_UNIX) as line:
        line.connect(address)
        # They are kept until there is a process that they are for.
        signal.pthread_sigmask(signal.SIG_BLOCK, PASSED_ON)
        for each in PASSED_ON:
            signal.signal(each, lambda number, _: line.send(bytes([number])))
        mask = os.umask(0)
        os.umask(mask)
        folder = os.getcwd()  # noqa: PTH109 - importing pathlib would be half of what asking costs
        asked = {"arguments": arguments, "folder": folder, "environment": dict(os.environ), "mask": mask}
        body = json.dumps(asked).encode()
        streams = [number for number in range(3) if _is_open(number)]
        socket.send_fds(line, [struct.pack("!IB", len(body), sum(1 << one for one in streams))], streams)
        line.sendall(body)
        for number in streams:  # who reads them sees their end as soon as the process closes them
            os.dup2(os.open(os.devnull, os.O_RDWR), number)
        signal.pthread_sigmask(signal.SIG_UNBLOCK, PASSED_ON)
        (code,) = struct.unpack("!i", line.recv(4, socket.MSG_WAITALL))
    if code < 0:
        signal.signal(-code, signal.SIG_DFL)
        os.kill(os.getpid(), -code)
    os._exit(code)


def _is_open(number: int) -> bool:
    try:
        os.fstat(number)
    except OSError:
        return False
    return True


main(sys.argv[1], sys.argv[2:])
