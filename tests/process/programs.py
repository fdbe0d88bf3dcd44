"""Small programs that misbehave, each in the one way its name says. Run with `python -I -S -c`."""

import sys

PRELUDE = """
import json, os, signal, sys, time
def send(value):
    sys.stdout.write(json.dumps(value) + "\\n"); sys.stdout.flush()
def hello():
    sys.stdin.readline(); send({"type": "hello", "protocol": 1, "name": "test"})
def tasks():
    for line in iter(sys.stdin.readline, ""):
        yield json.loads(line)
"""


def program(code: str) -> list[str]:
    """Command line of a program; `send`, `hello` and `tasks` are there for it."""
    return [sys.executable, "-I", "-S", "-c", PRELUDE + code]


ECHO = """
hello()
for task in tasks():
    send({"id": task["id"], "text": task["input"], "pid": os.getpid()})
"""

ESCAPEES = """
def rest():
    for name in (0, 1, 2):
        os.close(name)
    while True:
        signal.pause()
def spawn():
    pids = []
    plain = os.fork()
    if plain == 0:
        rest()
    own = os.fork()
    if own == 0:
        os.setsid()
        rest()
    reader, writer = os.pipe()
    if os.fork() == 0:
        os.setsid()
        daemon = os.fork()
        if daemon == 0:
            rest()
        os.write(writer, str(daemon).encode())
        os._exit(0)
    os.wait()
    return [plain, own, int(os.read(reader, 20))]
"""
"""Defines `spawn()`: a plain child, one in its own session, a double-forked daemon; their pids."""
