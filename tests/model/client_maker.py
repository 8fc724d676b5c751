"""Proxies at random, whom they name as their clients, and what rules over client.ip can say."""
CLIENTS = ["198.51.100.7", "198.51.100.9", "203.0.113.5", "2001:db8:7::1", "[2001:db8:7::1]:443", "198.51.100.7:8080",
           "::ffff:198.51.100.7", "64:ff9b::198.51.100.9", "10.0.0.1", "[2001:DB8:7:0::1]", "2001:db8:7::1:80",
           "[::ffff:203.0.113.5]:1", "198.51.100.9:0", "198.51.100.9:00080"]
NO_CLIENTS = ["unknown", "", "_hidden", "198.51.100", "198.51.100.07", "198.51.100.256", "198.51.100.7:", "198.51.100.7:65536",
              "198.51.100.7:8o", "[198.51.100.7]", "[2001:db8:7::1", "fe80::1%eth0", "2001:db8::g", "for=198.51.100.7",
              '"198.51.100.7"', "198.51.100.7 198.51.100.9", "198.51.100.7/32", "2001:db8:7::1]:443", "[2001:db8:7::1]443",
              "[]", "[2001:db8:7::1]:", "198.51.100.7:000080", ":80", "[fe80::1%1]:80", "198.51.100.7.", "::1::"]
SEPARATORS = [",", ", ", " , ", ",\t"]
HEADERS = ["X-Forwarded-For", "X-Real-IP"]
PROXIES = ["10.0.0.0/31", "10.0.0.3", "2001:db8::/127", "2001:db8:0:1::9", "0.0.0.0/0", "$proxies"]
LISTS = {"proxies.txt": "10.0.0.4\n2001:db8::2\n", "clients.txt": "198.51.100.9\n203.0.113.0/24\n2001:db8:7::/48\n"}
NETWORKS = ["198.51.100.0/24", "203.0.113.0/24", "2001:db8:7::/64", "0.0.0.0/0", "::/0", "10.0.0.0/8"]
KEYS = ["client.ip", "client.ip", '"prefix(client.ip, 24|48)"', '"prefix(client.ip, 30|124)"']


def client_lines(dice):
    """What stands before the header's end: mostly one line, whose last entries count."""
    lines = []
    for _ in range(dice.choice((0, 1, 1, 1, 1, 2, 3))):
        some = [dice.choice(dice.choice((CLIENTS, CLIENTS, CLIENTS, NO_CLIENTS))) for _ in range(dice.choice((1, 1, 2, 3)))]
        name = dice.choice((HEADERS[0], HEADERS[0], *HEADERS))
        lines.append((dice.choice((name, name.lower())), dice.choice(SEPARATORS).join(some)))
    return lines


class ClientMaker:
    """`client_ip` of a rule file, and tests of client.ip that it takes."""

    def __init__(self, dice):
        self.dice = dice
        self.lengths = dice.choice((32, 32, 24)), dice.choice((128, 128, 64))

    def lines(self):
        some = ", ".join(f'"{one}"' for one in self.dice.sample(PROXIES, self.dice.choice((1, 2, 3))))
        hops = self.dice.choice(("", "", ", hops_from_right: 2", ", hops_from_right: 3"))
        unwrap = self.dice.choice(("", "nat64", "v4mapped", "nat64, v4mapped"))
        origin = f"{{header: {self.dice.choice(HEADERS).lower()}{hops}}}"
        return ["data: {lists: {proxies: {type: cidr, file: proxies.txt}, clients: {type: cidr, file: clients.txt}}}",
                f"client_ip: {{trusted_proxies: [{some}], from: {origin}, ipv4_prefix: {self.lengths[0]}, "
                f"ipv6_prefix: {self.lengths[1]}, unwrap: [{unwrap}]}}"]

    def test(self):
        networks = ' '.join(self.dice.sample(NETWORKS, 2))
        tests = [f"client.ip in {{{networks}}}", "client.ip in $clients", "prefix(client.ip, 16|40) eq 198.51.0.0/16"]
        if self.lengths == (32, 128):
            tests += ["client.ip eq 198.51.100.7", "client.ip ne 2001:db8:7::1", "client.ip in {198.51.100.7 10.0.0.1}"]
        return self.dice.choice(tests)
