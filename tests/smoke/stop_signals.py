"""What ends a script that has made processes and namespaces is an exception, so that all it began is undone."""
import signal

SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


class Stopped(BaseException):
    """No Exception: whoever goes on after an error does not after this."""


def stop_on_signals():
    """From now on each of SIGNALS raises Stopped; a second one does not break the cleaning up."""
    def stop(*_):
        for caught in SIGNALS:
            signal.signal(caught, signal.SIG_IGN)
        raise Stopped
    for caught in SIGNALS:
        signal.signal(caught, stop)
