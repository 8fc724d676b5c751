"""Countries and ASNs from databases: sluicectl's check, replay and explain.

    origins_test.py SLUICECTL
"""
import bisect
import ipaddress
import json
import os
import random
import unittest

import mmdb_writer
from capture_files import Case, main, pcap, udp, udp6

TOR = ("/usr/share/tor/geoip", "/usr/share/tor/geoip6")
RULES = """version: 1
data: {country_db: country.mmdb, asn_db: asn.mmdb}
rules:
  - {id: shut, mode: enforce, when: 'ip.src.country in {"NL" "NO"} and ip.dst.asn eq 64500',
     on_match: drop}
  - {id: each, mode: enforce, key: [ip.src.country, ip.src.asn],
     limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]}
"""


class Small(Case):
    def setUp(self):
        super().setUp()
        countries = mmdb_writer.Database("Test-Country")
        countries.add("10.1.0.0/16", mmdb_writer.country("NL"))
        countries.add("10.2.0.0/16", mmdb_writer.country("DE"))
        countries.add("2001:db8::/32", mmdb_writer.country("NO"))
        countries.add_alias("2002::/16")
        systems = mmdb_writer.Database("Test-ASN")
        systems.add("10.0.0.0/8", mmdb_writer.asn(64500))
        self.write("country.mmdb", countries.bytes())
        self.write("asn.mmdb", systems.bytes())

    def test_check_shows_the_databases(self):
        rules = self.write("rules.yaml", RULES)
        out, err = self.ctl("check", rules)
        self.assertEqual(err, "")
        self.assertRegex(out, r"country_db\s+Test-Country\s+2023-11-14\s+7\s+country.mmdb")
        databases = json.loads(self.ctl("check", rules, "--json")[0])["databases"]
        self.assertEqual([(one["key"], one["type"], one["known"]) for one in databases],
                         [("country_db", "Test-Country", True), ("asn_db", "Test-ASN", True)])

    def test_a_file_that_is_not_there_is_a_warning_or_an_error(self):
        rules = self.write("rules.yaml", RULES.replace("asn.mmdb", "gone.mmdb"))
        out, err = self.ctl("check", rules)
        self.assertIn("rules.yaml:2:42: warning: cannot read", err)
        capture = self.write("a.pcap", pcap([(0, udp())]))
        _, err = self.ctl("replay", rules, "--pcap", capture, exit=1)
        self.assertIn("rules.yaml:2:42: error: cannot read", err)
        self.assertIn("gone.mmdb", err)

    def test_a_file_that_is_none_is_an_error(self):
        self.write("asn.mmdb", b"no database")
        rules = self.write("rules.yaml", RULES)
        _, err = self.ctl("check", rules, exit=1)
        self.assertIn("asn.mmdb is no good MMDB file", err)

    def test_explain_shows_the_values(self):
        rules = self.write("rules.yaml", RULES)
        out, _ = self.ctl("explain", rules, "--src", "10.1.2.3", "--dst", "10.2.0.1", "--json")
        account = json.loads(out)
        self.assertEqual((account["verdict"], account["rule"]), ("drop", "shut"))
        self.assertEqual({name: account["fields"].get(name) for name in
                          ("ip.src.country", "ip.src.asn", "ip.dst.asn", "ip.dst.country")},
                         {"ip.src.country": "NL", "ip.src.asn": "64500", "ip.dst.asn": "64500",
                          "ip.dst.country": None})
        out, _ = self.ctl("explain", rules, "--src", "192.0.2.1", "--dst", "10.2.0.1")
        self.assertIn("ip.src.country is absent", out)
        out, _ = self.ctl("explain", rules, "--src", "10.2.0.1", "--dst", "10.2.0.2")
        self.assertIn("ip.src.country is DE, not NL or NO", out)
        self.assertIn("DE|64500", out)

    def test_replay_judges_and_names_the_keys(self):
        rules = self.write("rules.yaml", RULES)
        frames = [udp(src="10.1.0.1", dst="10.9.0.1"), udp(src="10.2.0.1"), udp(src="10.2.0.2"),
                  udp(src="192.0.2.1"), udp(src="192.0.2.1"),
                  udp6(src="2001:db8::1", dst="2001:db9::1"),
                  udp6(src="2002:a01:1::1", dst="2001:db9::1")]
        capture = self.write("a.pcap", pcap([(0, frame) for frame in frames]))
        verdicts = self.path("verdicts.tsv")
        self.ctl("replay", rules, "--pcap", capture, "--verdicts", verdicts)
        rows = [line.split("\t") for line in self.read("verdicts.tsv").decode().splitlines()]
        self.assertEqual([(row[1], row[3], row[4]) for row in rows if row[0].isdigit()],
                         [("drop", "shut", ""), ("pass", "", ""), ("drop", "each", "DE|64500"),
                          ("pass", "", ""), ("pass", "", ""), ("pass", "", ""), ("pass", "", "")])


@unittest.skipUnless(all(os.path.exists(path) for path in TOR), "tor-geoipdb is not installed")
class RealSize(Case):
    """The countries of the world as Debian's tor-geoipdb has them, as an MMDB."""

    def ranges(self, path, version):
        found = []
        with open(path, encoding="ascii") as lines:
            for line in lines:
                if line.strip() and not line.startswith("#"):
                    first, last, code = line.strip().split(",")
                    ends = [int(end) if version == 4 else int(ipaddress.IPv6Address(end))
                            for end in (first, last)]
                    found.append((*ends, "" if code == "??" else code))
        return sorted(found)

    def country_of(self, ranges, address):
        at = bisect.bisect_right(ranges, (address, 1 << 128, "")) - 1
        first, last, code = ranges[at] if at >= 0 else (1, 0, "")
        return code if first <= address <= last else ""

    def test_every_address_has_the_country_of_its_range(self):
        self.write("country.mmdb", mmdb_writer.countries_of_tor(*TOR).bytes())
        # A cost that never fits: each packet is refused under its key, and has none without one.
        rules = self.write("rules.yaml", """version: 1
data: {country_db: country.mmdb}
rules:
  - {id: each, mode: enforce, key: [ip.src.country], cost: 2,
     limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]}
""")
        dice = random.Random(1)
        frames, expected = [], []
        for version, path in zip((4, 6), TOR):
            ranges = self.ranges(path, version)
            for _ in range(2000):
                first, last, _ = dice.choice(ranges)
                address = dice.choice((first, last, dice.randint(first, last), first - 1, last + 1,
                                       dice.getrandbits(32 if version == 4 else 128)))
                address = max(1, min(address, (1 << (32 if version == 4 else 128)) - 2))
                text = str(ipaddress.IPv4Address(address) if version == 4
                           else ipaddress.IPv6Address(address))
                frames.append((0, udp(src=text) if version == 4
                               else udp6(src=text, dst="2001:db8::1")))
                alias = version == 6 and (address >> 112 == 0x2002 or address >> 32 == 0xFFFF
                                          or address >> 32 == 0)
                expected.append("" if alias else self.country_of(ranges, address))
        capture = self.write("a.pcap", pcap(frames))
        verdicts = self.path("verdicts.tsv")
        self.ctl("replay", rules, "--pcap", capture, "--verdicts", verdicts)
        rows = [line.split("\t") for line in self.read("verdicts.tsv").decode().splitlines()]
        found = [row[4] for row in rows if row[0].isdigit()]
        self.assertEqual(found, expected)
        self.assertGreater(len(set(found)), 100)


if __name__ == "__main__":
    main()
