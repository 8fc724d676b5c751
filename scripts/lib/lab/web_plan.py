"""What `scripts/run --traffic http` offers, and what the rules beside this file hold it to."""
import dataclasses
import pathlib

RULES = pathlib.Path(__file__).parent / "web_rules.yaml"
LOGINS_PER_MINUTE = 5
LOGIN_BURST = 5
PORT = 80
CLIENTS = ("10.77.0.1", "10.77.0.3")  # addresses of the outside host
SITE_PAGES = 20  # requests over one connection
ATTEMPT_SECONDS = 1  # after which a client that gets no answer gives up
LEAST_ATTEMPTS = 3 * LOGIN_BURST  # of each client, whatever the duration


@dataclasses.dataclass
class Client:
    """What one address sent, and what came to the server."""
    address: str
    login_attempts: int = 0
    logins_passed: int = 0  # counted by the server
    site_requests: int = 0
    site_answered: int = 0
    seconds: float = 0.0

    def most_logins(self):
        """burst + rate * t, for as long as there were attempts."""
        return LOGIN_BURST + int(LOGINS_PER_MINUTE * self.seconds / 60)

    def broken(self):
        """What was promised and not kept, in words."""
        if self.logins_passed > self.most_logins():
            yield f"{self.logins_passed} attempts to log in passed, of at most {self.most_logins()}"
        if self.logins_passed < LOGIN_BURST:
            yield f"only {self.logins_passed} of the {LOGIN_BURST} attempts that are allowed passed"
        if self.site_answered != self.site_requests:
            yield f"{self.site_requests - self.site_answered} requests beside the login were not answered"


@dataclasses.dataclass
class Measured:
    clients: list
    seconds: float

    def total(self, name):
        return sum(getattr(client, name) for client in self.clients)

    def summary(self):
        """The line that `scripts/run --traffic http --json` prints."""
        return {
            "login_attempts": self.total("login_attempts"),
            "login_passed": self.total("logins_passed"),
            "login_refused": self.total("login_attempts") - self.total("logins_passed"),
            "login_limit_per_minute": LOGINS_PER_MINUTE,
            "site_requests": self.total("site_requests"),
            "site_passed": self.total("site_answered"),
            "clients": len(self.clients),
            "seconds": round(self.seconds, 3),
        }

    def broken(self):
        return [f"{client.address}: {what}" for client in self.clients for what in client.broken()]
