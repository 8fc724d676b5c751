"""A program that is told one command a line, and answers each by one line of JSON."""
import contextlib
import json
import subprocess

from commands import STOP_SECONDS, die_with_us
import rows


class LineProgram:
    """Says "ready" once it is. It ends when its input does, and is killed if that takes it longer than STOP_SECONDS."""

    def __init__(self, name, command, **options):
        self.name = name
        self.process = subprocess.Popen(list(map(str, command)), stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True,
                                        start_new_session=True, preexec_fn=die_with_us, **options)
        # What its libraries have to say may come before.
        if "ready\n" not in iter(self.process.stdout.readline, ""):
            self.stop()
            raise rows.BenchError(f"{name} did not begin")

    def do(self, *words):
        line = ""
        with contextlib.suppress(OSError):
            self.process.stdin.write(" ".join(map(str, words)) + "\n")
            self.process.stdin.flush()
            line = self.process.stdout.readline()
        if not line:
            raise rows.BenchError(f"{self.name} ended")
        return json.loads(line)

    def stop(self):
        with contextlib.suppress(OSError):
            self.process.stdin.close()
        try:
            self.process.wait(STOP_SECONDS)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
