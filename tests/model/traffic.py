"""Captures at random: quiet times, bursts at one instant, floods of new sources."""
from pcap import SECOND

GAPS = [0] * 12 + [1, 1, 3, 999, 1_000, 100_000, 1_000_000, 1_000_001, 7_000_000, 33_333_333,
                   100_000_000, 142_857_142, 142_857_143, SECOND]
RARE_GAPS = [60 * SECOND, 3600 * SECOND, 90_000 * SECOND, 900 * 86_400 * SECOND, 4001 * 86_400 * SECOND, -1, -SECOND]
STARTS = (0, 1_700_000_000 * SECOND, 1_700_000_000 * SECOND + 999_999_999)
RECENT = 12  # frames that come again, so that buckets empty


class Traffic:
    def __init__(self, dice, maker):
        self.dice, self.maker = dice, maker
        self.time, self.recent, self.sources = dice.choice(STARTS), [], 0
        self.frames = []  # [(time in ns, bytes, size on the wire)]

    def run(self, count):
        """Phases of each kind, until there are so many frames."""
        while len(self.frames) < count:
            self.dice.choice((self.mixture, self.mixture, self.burst, self.flood))()
        return self.frames[:count]

    def chance(self, percent):
        return self.dice.randrange(100) < percent

    def add(self, frame):
        self.frames.append((self.time, *frame))

    def wait(self):
        gaps = RARE_GAPS if self.dice.randrange(200) == 0 else GAPS
        self.time = max(0, self.time + self.dice.choice(gaps))

    def mixture(self):
        for _ in range(self.dice.choice((20, 60, 150))):
            self.add(self.new_or_recent(60))
            self.wait()

    def new_or_recent(self, percent):
        if self.recent and self.chance(percent):
            return self.dice.choice(self.recent)
        frame = self.maker.any_frame()
        self.recent = (self.recent + [frame])[-RECENT:]
        return frame

    def burst(self):
        """A few keys again and again at one instant, over more than a worker takes at once."""
        few = [self.new_or_recent(50) for _ in range(self.dice.randint(1, 5))]
        few += [self.old_source() for _ in range(self.dice.randrange(3))]
        for _ in range(self.dice.choice((8, 31, 32, 33, 70))):
            self.add(self.dice.choice(few))
        self.wait()

    def flood(self):
        """Sources that nobody has seen, in bursts; some of them come twice."""
        for _ in range(self.dice.choice((16, 40, 100))):
            self.sources += 1
            self.add(self.maker.sound_frame(self.sources))
            if self.chance(25):
                self.add(self.old_source())
            if self.chance(10):
                self.wait()

    def old_source(self):
        return self.maker.sound_frame(max(1, self.sources - self.dice.randrange(40)))
