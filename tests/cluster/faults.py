"""What happens to the store, to what speaks to it, and to boxes, under a flood that comes to all of them; and what is
stated of each."""
import dataclasses
import typing

HOUR, YEAR = 3600, 365 * 86400


@dataclasses.dataclass(frozen=True)
class Fault:
    name: str
    cause: typing.Callable  # of the boxes
    heal: typing.Callable
    seconds: float
    cut_off: int = 0    # boxes that the store is away for, while others have it
    stops_a_box: bool = False  # whose packets wait until it goes on
    lost: bool = False  # the store has lost what it held: what all others may hold is admitted once more

    def stated(self, limit, boxes):
        """(1 + c/M)(rate t + burst) + excess."""
        more = 1 + self.cut_off / boxes
        return dataclasses.replace(limit, rate=limit.rate * more, burst=int(limit.burst * more),
                                   promised=limit.promised * (2 if self.lost else 1))


def nothing(_):
    pass


def stopped(name, process, seconds, **stated):
    """SIGSTOP and SIGCONT of what `process` gives."""
    return Fault(f"{name} stopped {seconds:g} s", lambda boxes: process(boxes).stop(), lambda boxes: process(boxes).go_on(), seconds,
                 **stated)


def redis(boxes):
    return boxes.redis.server


def store_of(number):
    return lambda boxes: boxes.boxes[number].handle("store")


def dataplane_of(number):
    return lambda boxes: boxes.boxes[number].handle("dataplane")


def command(*words):
    return lambda boxes: boxes.redis(*words)


def each_proxy(what, *arguments):
    def run(boxes):
        for proxy in boxes.proxies:
            getattr(proxy, what)(*arguments)
    return run


def one_proxy(what, *arguments):
    return lambda boxes: getattr(boxes.proxies[0], what)(*arguments)


heal_proxies = each_proxy("heal")

OF_PROCESSES = [
    *(stopped("redis", redis, seconds) for seconds in (0.1, 1, 10)),
    Fault("redis killed, back empty at once", lambda boxes: boxes.redis.server.kill(), lambda boxes: boxes.restart_redis(), 0, lost=True),
    Fault("redis killed, back empty after 5 s", lambda boxes: boxes.redis.server.kill(), lambda boxes: boxes.restart_redis(), 5, lost=True),
    *(stopped("one sluice-store", store_of(0), seconds, cut_off=1) for seconds in (0.1, 1, 10)),
    Fault("one sluice-store killed", lambda boxes: boxes.boxes[0].kill_store(), lambda boxes: boxes.boxes[0].start_store(), 1, cut_off=1),
    Fault("every sluice-store killed", lambda boxes: [box.kill_store() for box in boxes.boxes],
          lambda boxes: [box.start_store() for box in boxes.boxes], 3),
    *(stopped("one box", dataplane_of(0), seconds, stops_a_box=True) for seconds in (0.1, 1, 10)),
    Fault("one box killed", lambda boxes: boxes.boxes[0].kill_dataplane(), lambda boxes: boxes.boxes[0].restart_dataplane(), 1,
          stops_a_box=True),
]
OF_REDIS = [
    Fault("FLUSHALL", command("FLUSHALL"), nothing, 0, lost=True),
    Fault("FUNCTION FLUSH", command("FUNCTION", "FLUSH"), lambda boxes: boxes.init_store(), 3),
    Fault("CLIENT KILL", command("CLIENT", "KILL", "TYPE", "normal"), nothing, 0),
    Fault("OOM", command("CONFIG", "SET", "maxmemory", "1"), command("CONFIG", "SET", "maxmemory", "0"), 3),
    Fault("no right to FCALL", command("ACL", "SETUSER", "default", "-fcall"), command("ACL", "SETUSER", "default", "+@all"), 3),
    Fault("READONLY", command("REPLICAOF", "127.0.0.1", "1"), command("REPLICAOF", "NO", "ONE"), 3),
]
OF_NETWORK = [
    Fault("one box cut off", lambda boxes: boxes.network.cut_off(0), lambda boxes: boxes.network.heal(), 4, cut_off=1),
    Fault("two boxes cut off", lambda boxes: boxes.network.cut_off(0, 1), lambda boxes: boxes.network.heal(), 4, cut_off=2),
    Fault("all boxes cut off", lambda boxes: boxes.network.cut_off(0, 1, 2), lambda boxes: boxes.network.heal(), 4),
    Fault("connections cut", each_proxy("cut"), nothing, 0),
    Fault("half open", one_proxy("half_open"), heal_proxies, 4, cut_off=1),
    Fault("answers stalled", one_proxy("stall", ["down"]), heal_proxies, 4, cut_off=1),
    Fault("requests stalled", one_proxy("stall", ["up"]), heal_proxies, 4, cut_off=1),
    Fault("throttled", each_proxy("throttle", 20_000), heal_proxies, 4),
]
OF_CLOCKS = [Fault(f"UTC of redis {words}", lambda boxes, seconds=seconds: boxes.clock.step(seconds),
                   lambda boxes: boxes.clock.step(0), 4)
             for words, seconds in (("an hour ahead", HOUR), ("an hour behind", -HOUR), ("a year ahead", YEAR))]
OF_SENTINELS = [
    Fault("a replica takes over", lambda boxes: boxes.sentinels.primary().server.kill(), nothing, 6),
    Fault("sentinels stopped", lambda boxes: [server.stop() for _, server in boxes.sentinels.sentinels],
          lambda boxes: [server.go_on() for _, server in boxes.sentinels.sentinels], 3),
]
FAULTS = [*OF_PROCESSES, *OF_REDIS, *OF_NETWORK, *OF_CLOCKS]


def named(name):
    return next(fault for fault in FAULTS if fault.name == name)
