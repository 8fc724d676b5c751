"""Several workers on a box between two hosts: what the tests of merging, owners and handing over begin with."""
import json

from box_case import HostsCase, main  # noqa: F401: they are started through here
from box_file import merged
from programs import wait_until


def hold_each(field, rate, burst):
    """The rule file that holds each key of one field, of the UDP frames that come in outside."""
    return f"""version: 1
rules:
  - id: hold
    mode: enforce
    when: dir eq "in" and ip.proto eq 17
    key: [{field}]
    limits: [{{algorithm: token_bucket, rate: {rate}, burst: {burst}}}]
"""


class WorkersCase(HostsCase):
    LCORES = "0@0,1@1,2@1,3@0,4@1"

    def start_dataplane(self, config=None):
        self.start_between("af_packet", merged({"workers": {"lcores": self.LCORES}}, config or {}),
                           ports=",framecnt=4096,blocksz=1048576")

    def start(self, config=None):
        self.start_dataplane(config)
        self.box.start_sluiced()

    def rules(self):
        return {rule["id"]: rule for rule in json.loads(self.box.api("GET", "/v1/rules")[1])["rules"]}

    def scopes(self):
        return {name: rule["limits"][0]["scope"] for name, rule in self.rules().items()}

    def told_of(self, frame):
        """What the worker that a frame would come to outside would make of it. Beside other work one may not be in time."""
        answers = []

        def answered():
            answers.append(self.box.api("POST", "/v1/explain", json.dumps({"packet": {"frame": frame.hex()}})))
            return answers[-1][0] != 503
        wait_until("the worker to answer", answered)
        self.assertEqual(answers[-1][0], 200, answers[-1])
        return json.loads(answers[-1][1])

    def reasons(self):
        return self.box.stats()["reasons"]
