"""sluice-pktgen in a process of its own, over virtio_user ports into the vhost ports of what is measured."""
import json
import os
import pathlib
import subprocess
import sys

sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "lab"))
from box import usable_cpus  # noqa: E402
from commands import die_with_us  # noqa: E402
import rows  # noqa: E402

TARGET = "tests/pktgen/sluice-pktgen"
# What is under way to the device fits into the ring of what comes back: a pause of the generator, which shares
# its core with others, makes the device wait and never drop.
RINGS = (256, 1024)
# Where the device is to drop what it is late for, as from a wire: a ring as long as a NIC's, and room for all of it on the way back.
RINGS_OF_NIC = (1024, 4096)
RINGS_BOTH_WAYS = (1024, 1024)
PATIENCE = 600  # seconds: a search with all its trials takes a fraction of it
NO_RATE_PASSED = 3


def vhost_ports(folder, queues=1):
    """What the program that is measured opens."""
    return [f"net_vhost{index},iface={folder}/v{index}.sock,queues={queues}" for index in (0, 1)]


def virtio_ports(folder, queues=1, rings=RINGS):
    """Their other ends."""
    more = f",queues={queues},cq=1" if queues > 1 else ""
    return [f"net_virtio_user{index},path={folder}/v{index}.sock,queue_size={rings[index]},mac=02:00:00:00:00:0{index + 1}{more}"
            for index in (0, 1)]


def command(build, folder, words, queues=1, rings=RINGS):
    sends, receives = virtio_ports(folder, queues, rings)
    return [str(build / TARGET), "--tx", sends, "--rx", receives, "--queues", str(queues),
            "--cpu", str(usable_cpus()[0]), *map(str, words)]


def run(build, folder, words, queues=1, rings=RINGS):
    """-> what it printed as JSON. It ends with this script, whatever happens."""
    try:
        done = subprocess.run(command(build, folder, [*words, "--json"], queues, rings), cwd=folder, stdin=subprocess.DEVNULL,
                              capture_output=True, text=True, timeout=PATIENCE, preexec_fn=die_with_us, check=False,
                              env={**os.environ, "RUNTIME_DIRECTORY": str(folder)})
    except subprocess.TimeoutExpired as late:
        raise rows.BenchError(f"sluice-pktgen did not end within {PATIENCE} s") from late
    if done.returncode not in (0, NO_RATE_PASSED):
        raise rows.BenchError(f"sluice-pktgen ended with {done.returncode}: {done.stderr.strip()[-2000:]}")
    return json.loads(done.stdout)
