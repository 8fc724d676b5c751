"""Several workers on a box between two hosts: what the tests of merging, owners and handing over begin with."""
import json
import sys
import unittest

from programs import Box, Hosts


class WorkersCase(unittest.TestCase):
    LCORES = "0@0,1@1,2@1,3@0,4@1"
    programs = []

    def setUp(self):
        self.box = Box(*self.programs)
        self.addCleanup(self.box.close)
        self.hosts = Hosts()
        self.addCleanup(self.hosts.close)
        self.hosts.open()

    def start_dataplane(self, *more):
        self.box.start_dataplane("net_af_packet0,iface=o,framecnt=4096,blocksz=1048576",
                                 "net_af_packet1,iface=i,framecnt=4096,blocksz=1048576",
                                 "--lcores", self.LCORES, *more, netns=self.hosts.box)

    def start(self, *more):
        self.start_dataplane(*more)
        self.box.start_sluiced()

    def apply(self, rules):
        done = self.box.apply(rules)
        self.assertEqual(done.returncode, 0, done.stderr)

    def rules(self):
        return {rule["id"]: rule for rule in json.loads(self.box.api("GET", "/v1/rules")[1])["rules"]}

    def scopes(self):
        return {name: rule["limits"][0]["scope"] for name, rule in self.rules().items()}

    def reasons(self):
        return self.box.stats()["reasons"]


def main():
    """The programs come as arguments, then what is unittest's."""
    WorkersCase.programs = sys.argv[1:4]
    unittest.main(module="__main__", argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
