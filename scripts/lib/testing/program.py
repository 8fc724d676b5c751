"""Runs one program to its end or to its time limit, together with whatever it started."""
import contextlib
import os
import signal
import subprocess


def run(command, timeout, **options):
    """Exit code and output. 124 when it took too long; its whole session is killed then. 127 when
    it could not be started, as a program whose build failed."""
    try:
        process = subprocess.Popen(["setpriv", "--pdeathsig", "KILL", *command],
                                   stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                   stderr=subprocess.STDOUT, start_new_session=True, **options)
    except OSError as error:
        return 127, str(error)
    try:
        output, _ = process.communicate(timeout=timeout)
        code = process.returncode
    except subprocess.TimeoutExpired:
        kill_session(process)
        output, _ = process.communicate()
        output += f"\nstopped after {timeout} s\n".encode()
        code = 124
    except BaseException:
        kill_session(process)
        raise
    return code, output.decode(errors="replace")


def kill_session(process):
    with contextlib.suppress(ProcessLookupError):
        os.killpg(process.pid, signal.SIGKILL)
