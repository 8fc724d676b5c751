"""Counting at the hosts with nftables: what left the sender, what came to the receiver."""
import json

import plan

KINDS = ("flood", "transfer")
SENDER = """
table ip lab {{
    counter flood {{}}
    counter transfer {{}}
    chain out {{
        type filter hook output priority 0;
        udp dport {flood} counter name flood
        tcp dport {transfer} counter name transfer
    }}
}}
"""
# The flood ends here: no answer of the host may come into the picture.
RECEIVER = """
table ip lab {{
    counter flood {{}}
    counter transfer {{}}
    chain arrived {{
        type filter hook prerouting priority -300;
        udp dport {flood} counter name flood drop
        tcp dport {transfer} counter name transfer
    }}
}}
"""


class Counters:
    def __init__(self, network, folder):
        self.network = network
        for host, rules in ((network.outside, SENDER), (network.inside, RECEIVER)):
            file = folder / f"{host}.nft"
            file.write_text(rules.format(flood=plan.FLOOD_PORT, transfer=plan.TRANSFER_PORT))
            network.run_in(host, "nft", "-f", str(file))

    def read(self, host):
        """Packets of each kind, as {"flood": n, "transfer": n}."""
        listing = json.loads(self.network.run_in(host, "nft", "-j", "list", "counters"))
        counters = (entry["counter"] for entry in listing["nftables"] if "counter" in entry)
        return {counter["name"]: counter["packets"] for counter in counters}

    def sent(self):
        return self.read(self.network.outside)

    def received(self):
        return self.read(self.network.inside)

    def reset(self):
        for host in (self.network.outside, self.network.inside):
            self.network.run_in(host, "nft", "reset", "counters")
