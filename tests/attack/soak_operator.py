"""What operators and applications do in a soak, one thing after the other, drawn at random."""
import dataclasses
import json
import os

from host_flood import address_of
from programs import UnixConnection, wait_until
from soak_rules import KEYS_FILE, RATE, SOAK_RULES
from target import BURST, SOURCES

ASKS = 3
OTHER_KEYS = 2000  # at most, in the file of overrides
TOGGLES = 10
HEAD = "key,limit,rate,burst,count,expires,reason\n"
DYNAMIC = [line for line in SOAK_RULES.splitlines(keepends=True) if "dynamic:" in line][0]


@dataclasses.dataclass
class Operator:
    """Each of its deeds ends with what was refused, in words, or with nothing."""
    box: object
    dice: object

    def prepare(self):
        """The files that the rules name, before anybody applies these."""
        self.write_keys(self.lines_of_keys()[0])

    def act(self):
        deeds = (self.call,) * 10 + (self.rewrite_keys, self.steer)
        return self.dice.choice(deeds)()

    def call(self):
        """A command that is done and over."""
        dice, folder = self.dice, self.box.folder
        key = f"10.{dice.randrange(100, 200)}.1.1"
        call = dice.choice((
            ["apply", "--force", str(self.rules_file())], ["key", "ban", "clients", key, "--for", "5s"],
            ["key", "set", "clients", key, "--rate", "5/s", "--burst", "9"], ["key", "unset", "clients", key],
            ["trace", "--for", "500ms"], ["capture", "--for", "500ms", "-w", str(folder / "soak.pcapng")],
            ["keys", "--rule", "clients"], ["top"], ["stats"], ["bans"], ["health"]))
        for _ in range(ASKS):
            done = self.box.ctl(*call)
            if "ask again" not in done.stderr:  # rules that are new since a page of keys
                break
        # What was never set cannot be taken back.
        is_done = done.returncode == 0 or call[1] == "unset"
        return None if is_done else f"sluicectl {' '.join(call)}: {done.stderr.strip()[-200:]}"

    def rules_file(self):
        """With some rules more; without `dynamic` now and then, so that its keys are nobody's numbers or bounded again."""
        path = self.box.folder / "soak.yaml"
        more = "".join(f"  - {{id: other-{number}, mode: monitor, when: ip.dst eq 10.80.0.{number}, key: [ip.src], "
                       f"limits: [{{algorithm: token_bucket, rate: 5/s, burst: 5}}]}}\n"
                       for number in range(self.dice.randrange(12)))
        rules = SOAK_RULES.replace(DYNAMIC, "") if self.dice.random() < 0.3 else SOAK_RULES
        path.write_text(rules.replace("services:\n", more + "services:\n"))
        return path

    def lines_of_keys(self):
        """-> (a file of overrides, the bursts of the flood's sources in it): none has more than its rule gives."""
        dice = self.dice
        bursts = [dice.randint(1, BURST) for _ in range(SOURCES)]
        lines = [f"{address_of(source)},1,{dice.randint(1, RATE)}/s,{burst},,,contract\n" for source, burst in enumerate(bursts)]
        others = {f"10.{dice.randrange(100, 200)}.{dice.getrandbits(8)}.{dice.getrandbits(8)}"
                  for _ in range(dice.randrange(OTHER_KEYS))}
        lines += [f"{key},1,{dice.randint(1, RATE)}/s,{dice.randint(1, BURST)},,,\n" for key in sorted(others)]
        return HEAD + "".join(lines), bursts

    def write_keys(self, text):
        """In place, or as most editors do."""
        path = self.box.folder / KEYS_FILE
        if self.dice.random() < 0.5:
            path.write_text(text)
            return
        other = path.with_suffix(".new")
        other.write_text(text)
        os.replace(other, path)

    def rewrite_keys(self):
        """The file of overrides; until its numbers hold."""
        text, bursts = self.lines_of_keys()
        self.write_keys(text)
        source = self.dice.randrange(SOURCES)
        try:
            wait_until("the file's numbers", lambda: self.burst_of(address_of(source)) == bursts[source])
        except AssertionError:
            return f"the numbers of a file of overrides that was rewritten are not in force: {self.box.log('sluiced.log')[-300:]}"
        return None

    def burst_of(self, key):
        """As the worker has it; None: it did not come to answer in time."""
        told = json.loads(self.box.ctl("key", "show", "overridden", key, "--json").stdout or "{}")
        workers = [worker for limit in told.get("limits", []) for worker in limit["workers"]]
        return workers[0]["most"] if workers else None

    def steer(self):
        """An application that lowers and restores numbers, as fast as it is answered."""
        dice = self.dice
        for _ in range(dice.randint(1, TOGGLES)):
            keys = [{"key": address_of(source), "rate": f"{dice.choice((1, dice.randint(1, RATE), RATE))}/s",
                     "for": f"{dice.randint(1, 60)}s"} for source in range(SOURCES)]
            status, text = self.post("/v1/rules/steered/keys", {"keys": keys})
            if status != 200:
                return f"numbers of keys were refused: {status} {text[-200:]}"
        return None

    def post(self, path, body):
        connection = UnixConnection(self.box.api_socket)
        connection.request("POST", path, json.dumps(body), {"content-type": "application/json"})
        answer = connection.getresponse()
        text = answer.read().decode()
        connection.close()
        return answer.status, text
