"""What is sent during a run, and what rules.yaml beside this file holds it to."""
import dataclasses
import pathlib

RULES = pathlib.Path(__file__).parent / "rules.yaml"
FLOOD_RULE = "udp-flood"
TRANSFER_RULE = "transfer"
LIMIT_PPS = 2000  # of FLOOD_RULE
BURST = 100

OUTSIDE_ADDRESS = "10.77.0.1"
INSIDE_ADDRESS = "10.77.0.2"
BOX_ADDRESS = "10.77.0.3"  # of its own, at the outside, where ports stay with the kernel
FLOOD_PORT = 9
TRANSFER_PORT = 5201

FLOOD_PPS = 20000  # ten times the limit, so that a slow second still offers five times
LATEST_SECONDS = 0.2  # what the rings hold at this rate
FLOOD_PAYLOAD = 22  # a 64-byte frame on the wire
# Ordinary use: with a small window no burst of it outgrows a port's ring.
TRANSFER_MBIT = 40
TRANSFER_WINDOW = "128K"


@dataclasses.dataclass
class Measured:
    """Counted by the hosts (packets of each kind sent and received), over `seconds`."""
    flood_sent: int
    flood_received: int
    transfer_sent: int
    transfer_received: int
    seconds: float

    def summary(self):
        """The line that `scripts/run --json` prints."""
        offered = self.flood_sent + self.transfer_sent
        passed = self.flood_received + self.transfer_received
        return {
            "offered": offered,
            "passed": passed,
            "dropped": offered - passed,
            "limit_pps": LIMIT_PPS,
            "flood_offered_pps": round(self.flood_sent / self.seconds, 1),
            "flood_passed_pps": round(self.flood_received / self.seconds, 1),
            "legit_passed_ratio": round(self.transfer_received / max(1, self.transfer_sent), 6),
            "seconds": round(self.seconds, 3),
        }

    def most_allowed(self):
        """Flood packets that the rule may admit: rate * t + burst. The box sees the last ones when
        they leave a ring, later than they were sent."""
        return int(LIMIT_PPS * (self.seconds + LATEST_SECONDS)) + BURST

    def broken(self):
        """What was promised and not kept, in words."""
        if self.flood_received <= self.most_allowed():
            return []
        return [f"more of the flood passed than the limit allows: {self.flood_received:,} of at most "
                f"{self.most_allowed():,}"]
