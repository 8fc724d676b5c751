"""GET /v1/workers and /v1/ports: counters that grow as time passes."""
import time

STAGES = ("receive", "parse", "match", "key", "locate", "meter", "send", "other")


def worker(lcore, at, **more):
    packets = int(1e6 * at * lcore)
    return {"lcore": lcore, "bursts": packets // 32, "stalled_ms": 0, "stalls": 0, "handed_over": 0, "table_slots": 65_536, "table_entries": 12_000 * lcore,
            "table_evictions": packets // 1000, "packets": packets, "verdicts": {"pass": packets * 9 // 10, "drop": packets // 10}, "table_full": 0,
            "asks": {"waiting_packets": 0, "reservations": 0}, "ask_events": {"ring_full": 0, "no_room": 0}, "ledger": {"ring_full": 0, "no_record": 0},
            "shaping": {"held_packets": 3, "held_room": 4096},
            "cycles": {"of_turns": 256, "turns": packets // 32, "packets": packets // 256, "per_second": 2_000_000_000,
                       "stages": {**{stage: packets // 256 * 10 for stage in STAGES}, "idle": packets // 256 * 80}},
            "lanes": [f"uplink in q{lcore}"], **more}


def port(side, at, **more):
    return {"pair": "uplink", "side": side, "device": "0000:01:00.0", "driver": "mlx5_pci", "link_up": True, "held_down": False, "gone": False, "times_gone": 0,
            "mtu": 1500, "set_mtu": 1500, "rx_queues": 4, "tx_queues": 4, "rss": True, "asked": "addresses, ports", "hashes": "addresses, ports", "handed_over": False,
            "rx_packets": int(1e6 * at), "rx_bytes": int(1e9 * at), "tx_packets": int(9e5 * at), "tx_bytes": int(9e8 * at), "rx_missed": 0, "rx_no_mbuf": 0,
            "rx_errors": 0, "tx_errors": 0, "tx_full": 0, "kernel": None, "other_program": None, **more}


def answer(stand_in, method, path, _query):
    at = time.monotonic() - stand_in.began + 10
    if method == "GET" and path in ("/v1/workers", "/v1/ports"):
        name = path.rsplit("/", 1)[1]
        refusal = vars(stand_in).get("numbers_refusal")
        made = [worker(lcore, at, **vars(stand_in).get("worker_members", {})) for lcore in (1, 2)] if name == "workers" else [
            port(side, at, **vars(stand_in).get("port_members", {})) for side in ("outside", "inside")]
        return refusal or (200, {name: vars(stand_in).get(f"{name}_listed", made)})
    return None
