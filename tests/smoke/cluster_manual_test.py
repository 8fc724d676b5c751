"""The recipes of sluice-cluster(7): the files that stand there start a real Redis with a replica and a real etcd, and
sluicectl and sluiced work with these. Only addresses and ports are a test's.

    cluster_manual_test.py SLUICED FAKE_DATAPLANE SLUICECTL
"""
import os
import pathlib
import secrets
import shutil
import subprocess
import sys
import unittest

import manual_pages as manual
from daemon_box import DaemonBox, wait_until
from etcd_server import free_port

PROGRAMS = [os.path.abspath(program) for program in sys.argv[1:4]]
RULES = "version: 1\nrules:\n  - {id: one, key: [ip.src], limits: [{algorithm: token_bucket, rate: 10/s, burst: 20}]}\n"
NAME = "/CN=store.example.net"


class Recipes(unittest.TestCase):
    def setUp(self):
        self.box = DaemonBox(*PROGRAMS)
        self.addCleanup(self.box.close)
        self.folder = pathlib.Path(self.box.folder)
        self.redis_port, self.etcd_port, self.processes = free_port(), free_port(), []
        self.addCleanup(self.end)
        for block in manual.pages()["sluice-cluster.7"].blocks:
            if block.kind in ("file", "box"):
                self.write(block.name, block.text.replace("192.0.2.20:6379", f"127.0.0.1:{self.redis_port}")
                           .replace("192.0.2.21:2379", f"127.0.0.1:{self.etcd_port}"))
        self.write("cluster.secret", secrets.token_hex(16))
        self.write("root.pass", secrets.token_hex(16))
        self.write("operator.yaml", (self.folder / "edge.yaml").read_text().replace("box", "operator"))
        self.certify()

    def write(self, name, text):
        (self.folder / name).write_text(text)
        (self.folder / name).chmod(0o600)

    def run_here(self, *words, **env):
        done = subprocess.run([str(word) for word in words], cwd=self.folder, capture_output=True, text=True, timeout=60,
                              env={**os.environ, **env}, check=False)
        return done.returncode, done.stdout + done.stderr

    def expect(self, *words, **env):
        code, text = self.run_here(*words, **env)
        self.assertEqual(code, 0, text)
        return text

    def certify(self):
        new = ("openssl", "req", "-newkey", "rsa:2048", "-nodes", "-batch")
        self.expect(*new, "-x509", "-days", "2", "-keyout", "ca.key", "-out", "ca.crt", "-subj", "/CN=test")
        self.expect(*new, "-keyout", "store.key", "-out", "store.csr", "-subj", NAME)
        self.write("names", "subjectAltName=DNS:store.example.net,IP:127.0.0.1")
        self.expect("openssl", "x509", "-req", "-days", "2", "-in", "store.csr", "-CA", "ca.crt", "-CAkey", "ca.key",
                    "-CAcreateserial", "-extfile", "names", "-out", "store.crt")

    def spawn(self, *words, folder=None):
        with open(self.folder / "servers.log", "ab") as log:
            self.processes.append(subprocess.Popen([str(word) for word in words], cwd=folder or self.folder, stdout=log, stderr=log))

    def end(self):
        for process in self.processes:
            process.kill()
            process.wait(30)

    def ctl(self, *words):
        return self.run_here(PROGRAMS[2], "--socket", self.box.socket, *words)

    def wait_for(self, run, *words, **more):
        """Until it succeeds; what it says, and what servers do, else."""
        said = [""]

        def succeeds():
            code, said[0] = run(*words, **more)
            return code == 0
        try:
            wait_until(" ".join(words), succeeds)
        except AssertionError as error:
            raise AssertionError(f"{error}\n{said[0]}\n{(self.folder / 'servers.log').read_text()[-3000:]}") from None

    def test_the_redis_of_the_page_is_one_that_boxes_can_use(self):
        operator = ("--config", "edge.yaml", "--user", "operator", "--password-file", "operator.pass")
        self.spawn("redis-server", "redis.conf", "--tls-port", self.redis_port, "--bind", "127.0.0.1")
        wait_until("a primary without replicas", lambda: "fewer replicas" in self.ctl("store", "init", *operator)[1])
        replica = self.folder / "replica"
        replica.mkdir()
        for name in ("redis.conf", "users.acl", "store.crt", "store.key", "ca.crt"):
            shutil.copy(self.folder / name, replica)
        self.spawn("redis-server", "redis.conf", "--tls-port", free_port(), "--bind", "127.0.0.1", "--replicaof", "127.0.0.1", self.redis_port,
                   folder=replica)
        self.wait_for(self.ctl, "store", "init", *operator)
        self.wait_for(self.ctl, "store", "check", "--config", "edge.yaml")
        # A box may not load what it calls, nor read what is not its cluster's.
        self.assertNotEqual(self.ctl("store", "init", "--config", "edge.yaml")[0], 0)
        self.write("other.yaml", (self.folder / "edge.yaml").read_text().replace("name: edge\n", "name: other\n"))
        code, text = self.ctl("store", "check", "--config", "other.yaml")
        self.assertNotEqual(code, 0, text)

    def test_the_etcd_of_the_page_has_boxes_that_follow_and_an_operator_who_brings(self):
        self.spawn("etcd", "--config-file", "etcd.conf.yml")
        at = {"ETCDCTL_API": "3", "ETCDCTL_ENDPOINTS": f"https://127.0.0.1:{self.etcd_port}", "ETCDCTL_CACERT": "ca.crt"}
        self.wait_for(self.run_here, "etcdctl", "endpoint", "health", **at)
        self.expect("sh", "-e", "etcd-auth.sh", **at)
        self.box.start_dataplane()
        self.box.start_sluiced("--config", self.folder / "edge.yaml")
        try:
            wait_until("a slot", lambda: self.box.get("/v1/cluster").json()["state"] == "member")
        except AssertionError:
            raise AssertionError(self.box.get("/v1/cluster").text) from None
        self.write("rules.yaml", RULES)
        code, text = self.ctl("apply", "--cluster", "--config", "edge.yaml", "rules.yaml")
        self.assertNotEqual(code, 0, text)
        code, text = self.ctl("apply", "--cluster", "--config", "operator.yaml", "rules.yaml")
        self.assertEqual(code, 0, text)
        wait_until("the rules", lambda: self.box.get("/v1/cluster").json()["generation"] == 1)


if __name__ == "__main__":
    unittest.main(argv=sys.argv[:1], verbosity=2)
