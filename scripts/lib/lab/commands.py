"""Running programs on behalf of the lab: short ones to their end, long ones until the lab closes."""
import ctypes
import signal
import subprocess

PR_SET_PDEATHSIG = 1
STOP_SECONDS = 5
libc = ctypes.CDLL(None)


class LabError(Exception):
    """What went wrong, in words for whoever ran the script."""


def call(*command, check=True):
    """Output of a program that ends by itself."""
    done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                          start_new_session=True)
    if check and done.returncode:
        raise LabError(f"{' '.join(command)}: {(done.stderr or done.stdout).strip()}")
    return done.stdout


def die_with_us():
    # Even if this script is killed outright, nothing it started outlives it.
    libc.prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


class Process:
    """A program in a session of its own, so that ^C reaches it only through us; output in a file."""

    def __init__(self, command, folder, name):
        self.name = name
        self.log = folder / f"{name}.log"
        with self.log.open("wb") as log:
            self.process = subprocess.Popen(
                [str(word) for word in command], cwd=folder, stdin=subprocess.DEVNULL, stdout=log,
                stderr=subprocess.STDOUT, start_new_session=True, preexec_fn=die_with_us)

    def running(self):
        return self.process.poll() is None

    def output(self):
        return self.log.read_text(errors="replace")

    def complain(self, what):
        tail = "\n".join("    " + line for line in self.output().splitlines()[-20:])
        raise LabError(f"{self.name} {what}\n{tail}")

    def wait(self, seconds):
        """Until it ends by itself; an error if it does not, or not well."""
        try:
            code = self.process.wait(seconds)
        except subprocess.TimeoutExpired:
            self.complain(f"did not end within {seconds:.0f} s")
        if code:
            self.complain(f"ended with exit code {code}")
        return self.output()

    def stop(self):
        if self.running():
            self.process.terminate()
            try:
                self.process.wait(STOP_SECONDS)
            except subprocess.TimeoutExpired:
                self.process.kill()
                self.process.wait()
