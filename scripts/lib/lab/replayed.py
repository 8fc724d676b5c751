"""The same rules over the same traffic as a capture, for whoever may make no namespaces."""
import json
import struct
import subprocess

from commands import LabError
import plan

TRANSFER_FRAME = 1514
TRANSFER_PPS = plan.TRANSFER_MBIT * 1_000_000 // 8 // 1448
SNAP = 64  # of each frame the capture holds the headers
MAGIC_NS = 0xA1B23C4D
MAC = bytes.fromhex("020000000002020000000001")


def address(text):
    return bytes(int(part) for part in text.split("."))


def ip_frame(protocol, payload):
    header = struct.pack("!BBHHHBBH", 0x45, 0, 20 + len(payload), 0, 0x4000, 64, protocol, 0)
    header += address(plan.OUTSIDE_ADDRESS) + address(plan.INSIDE_ADDRESS)
    total = sum(struct.unpack("!10H", header))
    total = (total & 0xFFFF) + (total >> 16)
    total = (total & 0xFFFF) + (total >> 16)
    header = header[:10] + struct.pack("!H", ~total & 0xFFFF) + header[12:]
    return MAC + b"\x08\x00" + header + payload


def flood_frame():
    udp = struct.pack("!HHHH", 40000, plan.FLOOD_PORT, 8 + plan.FLOOD_PAYLOAD, 0)
    return ip_frame(17, udp + bytes(plan.FLOOD_PAYLOAD))


def transfer_frame():
    tcp = struct.pack("!HHIIBBHHH", 40001, plan.TRANSFER_PORT, 1, 1, 0x50, 0x10, 0xFFFF, 0, 0)
    return ip_frame(6, tcp + bytes(TRANSFER_FRAME - 54))


def schedule(seconds):
    """(ns, frame) of both, in the order of time."""
    flood, transfer = flood_frame(), transfer_frame()
    times = [(i * 1_000_000_000 // plan.FLOOD_PPS, flood)
             for i in range(int(plan.FLOOD_PPS * seconds))]
    times += [(i * 1_000_000_000 // TRANSFER_PPS, transfer)
              for i in range(int(TRANSFER_PPS * seconds))]
    return sorted(times, key=lambda entry: entry[0])


def write_capture(path, seconds):
    with path.open("wb") as file:
        file.write(struct.pack("<IHHiIII", MAGIC_NS, 2, 4, 0, 0, SNAP, 1))
        for at, frame in schedule(seconds):
            cut = frame[:SNAP]
            file.write(struct.pack("<IIII", at // 1_000_000_000, at % 1_000_000_000, len(cut),
                                   len(frame)) + cut)


def replay(cli, folder, seconds):
    capture = folder / "traffic.pcap"
    write_capture(capture, seconds)
    done = subprocess.run([str(cli), "replay", str(plan.RULES), "--pcap", str(capture), "--json"],
                          stdin=subprocess.DEVNULL, capture_output=True, text=True)
    if done.returncode:
        raise LabError(f"sluicectl replay: {done.stderr.strip()}")
    result = json.loads(done.stdout)
    rules = {rule["id"]: rule for rule in result["rules"]}
    flood, transfer = rules[plan.FLOOD_RULE], rules[plan.TRANSFER_RULE]
    passed = result["passed"] + result["tagged"]
    return plan.Measured(
        flood_sent=flood["matched"], flood_received=flood["admitted"],
        transfer_sent=transfer["matched"], transfer_received=passed - flood["admitted"],
        seconds=seconds)
