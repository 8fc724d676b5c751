"""Limits at random, of every algorithm that is built, and other numbers for them."""
import yaml

PACKET_RATES = ["1/d", "7/h", "1/h", "3/m", "300/m", "1/s", "3/s", "7/s", "10/s", "333/s", "1K/s",
                "1500/s", "1M/s", "1234567/s"]
BYTE_RATES = ["1KB/s", "333B/s", "9600bit/s", "20Mbit/s", "5MB/s", "7777bit/s", "1Mbit/s",
              "100Gbit/s", "64Kbit/s", "100KB/m", "7KiB/m", "1B/s"]
PACKET_BURSTS = [1, 1, 2, 3, 5, 8, 20, 100]
BYTE_BURSTS = ["28B", "100B", "512B", "1KiB", "1500B", "4KB", "64KiB"]
# All of them divide a day or are days: what is left out of a pause of years is whole days.
WINDOW_LENGTHS = ["1ms", "8ms", "100ms", "1s", "3s", "10s", "1m", "1h", "1d", "366d"]
# What else may stand in a limit of the algorithm.
WINDOWS = {"fixed_window": ["", ", phase: first", ", phase: clock",
                            ", utc_offset: \"+03:00\"", ", utc_offset: \"-11:30\""],
           "sliding_window": [""],
           "sliding_counters": ["", ", buckets: 1", ", buckets: 7", ", buckets: 10, edge: lenient",
                                ", edge: lenient", ", buckets: 60, edge: strict"],
           "sliding_log": [""]}

ZONES = ["UTC", "Europe/Berlin", "Europe/Moscow", "America/New_York", "Asia/Kathmandu", "Australia/Lord_Howe",
         "Pacific/Apia", "Asia/Beirut", "America/Asuncion"]
SHOWN = ["l4.dport", "l4.dport", "l4.sport", "ip.dst", "ip.src", "ip.ttl", "payload", "dns.qname", "client.ip",
         '"prefix(ip.dst, 24|64)"', '"lower(dns.qname)"', "http.host", "http.request.uri.path"]


class LimitMaker:
    def __init__(self, dice):
        self.dice = dice

    def chance(self, percent):
        return self.dice.randrange(100) < percent

    def limit(self, of_packets):
        per = "packet" if of_packets else "byte"
        amount = self.dice.choice(PACKET_BURSTS if of_packets else BYTE_BURSTS)
        if of_packets and self.chance(15):
            per = self.dice.choice(("connection", "query"))
        if self.chance(20):
            return self.color_meter(per, PACKET_BURSTS if of_packets else BYTE_BURSTS,
                                    PACKET_RATES if of_packets else BYTE_RATES)
        if self.chance(45):
            algorithm = self.dice.choice(list(WINDOWS))
            if algorithm == "fixed_window" and self.chance(30):
                return (f"{{algorithm: fixed_window, per: {per}, count: {amount}, window: "
                        f"{self.dice.choice(('1d', '1d', '2d', '7d', '48h'))}, zone: {self.dice.choice(ZONES)}}}")
            return (f"{{algorithm: {algorithm}, per: {per}, count: {amount}, window: "
                    f"{self.dice.choice(WINDOW_LENGTHS)}{self.dice.choice(WINDOWS[algorithm])}}}")
        algorithm, burst = self.dice.choice((("token_bucket", "burst"),) * 3 +
                                            (("leaky_bucket", "queue"),))
        rate = self.dice.choice(PACKET_RATES if of_packets else BYTE_RATES)
        return f"{{algorithm: {algorithm}, per: {per}, rate: {rate}, {burst}: {amount}}}"

    @staticmethod
    def distinct(dice):
        """Different values of a field: in rules without other costs alone."""
        return (f"{{algorithm: distinct, per: {dice.choice(('packet',) * 4 + ('connection', 'query', 'request'))}, "
                f"of: {dice.choice(SHOWN)}, count: {dice.choice((1, 2, 3, 5, 20, 100, 200))}, "
                f"window: {dice.choice(('1s', '3s', '10s', '1m', '1h', '1d'))}}}")

    def color_meter(self, per, sizes, rates):
        def size():
            return self.dice.choice(sizes)

        def rate():
            return self.dice.choice(rates)

        words, kind = "", self.dice.choice(("rfc2697", "rfc2698", "rfc4115"))
        if kind == "rfc2697":
            words = f"algorithm: srtcm, cir: {rate()}, cbs: {size()}, ebs: {size()}"
        elif kind == "rfc2698":
            peak = rate()  # no less than the committed rate
            words = (f"algorithm: trtcm, variant: rfc2698, cir: {peak}, cbs: {size()}, "
                     f"pir: {peak}, pbs: {size()}")
        else:
            words = (f"algorithm: trtcm, variant: rfc4115, cir: {rate()}, cbs: {size()}, "
                     f"eir: {rate()}, ebs: {size()}")
        return f"{{{words}, per: {per}, color: {self.dice.choice(('blind', 'aware'))}}}"

    def other_numbers(self, limit):
        """Some of what a bucket or a window has, as {name: text}; nothing for colour meters."""
        what = yaml.load(limit, Loader=yaml.BaseLoader)
        of_bytes = what["per"] == "byte"
        amount = str(self.dice.choice(BYTE_BURSTS if of_bytes else PACKET_BURSTS))
        if "count" in what:
            return {"count": amount}
        if "cir" in what:
            return {}
        rate = self.dice.choice(BYTE_RATES if of_bytes else PACKET_RATES)
        both = {"rate": rate, "queue" if "queue" in what else "burst": amount}
        return dict(self.dice.sample(list(both.items()), self.dice.choice((1, 2, 2))))
