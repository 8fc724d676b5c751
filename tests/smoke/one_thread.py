"""Stops one thread of a process, and no other: what SIGSTOP cannot do."""
import contextlib
import ctypes
import os
import pathlib

_SEIZE, _INTERRUPT, _DETACH = 0x4206, 0x4207, 17  # of ptrace(2)
_ALL_THREADS = 0x40000000  # __WALL of waitpid(2)
_LIBC = ctypes.CDLL(None, use_errno=True)
_LIBC.ptrace.argtypes = [ctypes.c_long, ctypes.c_long, ctypes.c_void_p, ctypes.c_void_p]
_LIBC.ptrace.restype = ctypes.c_long


def _ptrace(request, thread):
    if _LIBC.ptrace(request, thread, None, None) != 0:
        raise OSError(ctypes.get_errno(), "ptrace")


def threads_named(process, name):
    """The ids of a process's threads of that name."""
    tasks = pathlib.Path(f"/proc/{process.pid}/task")
    return [int(task.name) for task in tasks.iterdir() if (task / "comm").read_text().strip() == name]


@contextlib.contextmanager
def stopped(thread):
    """Wants root. Whoever dies meanwhile leaves the thread running: the kernel lets go of it."""
    _ptrace(_SEIZE, thread)
    _ptrace(_INTERRUPT, thread)
    os.waitpid(thread, _ALL_THREADS)
    try:
        yield
    finally:
        _ptrace(_DETACH, thread)
