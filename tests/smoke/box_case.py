"""The three programs in a folder of their own: what the tests of a whole box begin with."""
import sys
import unittest

from programs import Box, Hosts

# Ports that bring frames without end.
NULL = ("net_null0,size=64,copy=1", "net_null1,size=64,copy=1")
# Ports that bring none, so that workers sleep.
QUIET = ("net_null0,no-rx=1", "net_null1,no-rx=1")


class BoxCase(unittest.TestCase):
    programs = []  # sluice-dataplane, sluiced, sluicectl

    def setUp(self):
        self.box = Box(*self.programs)
        self.addCleanup(self.box.close)

    def apply(self, rules, *more):
        done = self.box.apply(rules, *more)
        self.assertEqual(done.returncode, 0, done.stderr)


class HostsCase(BoxCase):
    """The box between two hosts."""

    def setUp(self):
        super().setUp()
        self.hosts = Hosts()
        self.addCleanup(self.hosts.close)
        self.hosts.open()

    def start_between(self, driver, config=None, ports="", **options):
        """A dataplane on the links to the hosts; `ports`: what else the driver is told."""
        return self.box.start_dataplane(f"net_{driver}0,iface=o{ports}", f"net_{driver}1,iface=i{ports}",
                                        config, netns=self.hosts.box, **options)


def main():
    """The programs come as arguments, then what is unittest's."""
    BoxCase.programs = sys.argv[1:4]
    unittest.main(module="__main__", argv=[sys.argv[0], *sys.argv[4:]], verbosity=2)
