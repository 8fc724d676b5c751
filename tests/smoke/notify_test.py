"""`notify` of rules: notices to webhooks, with the real programs.

    notify_test.py DATAPLANE SLUICED SLUICECTL
"""
import json
import os
import pathlib
import re
import subprocess
import time

import jsonschema

from box_case import NULL, BoxCase, main
from programs import wait_until
from webhook_server import Webhook

SCHEMA = json.loads((pathlib.Path(__file__).resolve().parents[2] / "control/schema/notice.schema.json").read_text())
SECRET = b"0123456789abcdef-of-a-test"
TOLD_AT_ONCE = 128  # notices that wait for a webhook
# The frames of net_null are no IP: the rule without a key meets all of them.
RULES = """version: 1
rules:
  - id: all
    mode: enforce
    key: []
    limits: [{algorithm: token_bucket, rate: 100/s, burst: 100}]
    ban: {after: 100, within: 1m, for: 2s}
    notify: NOTIFY
"""


class NotifyCase(BoxCase):
    def webhook(self, *answers, certificate=None):
        webhook = Webhook(SECRET, answers, certificate)
        self.addCleanup(webhook.close)
        return webhook

    def certificate(self, name):
        """A file with a key and a certificate for 127.0.0.1 that nobody but itself vouches for."""
        file = self.box.folder / name
        key = self.box.folder / "key.pem"
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2",
                        "-subj", f"/CN={name}", "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", file],
                       check=True, capture_output=True, timeout=60)
        trusted = file.read_text()
        served = self.box.folder / f"served-{name}"
        served.write_text(key.read_text() + trusted)
        return served

    def start(self, **webhooks):
        """sluiced with these webhooks: by name, their URLs, or a URL and what else is said."""
        secret = self.box.folder / "hook.secret"
        secret.write_bytes(SECRET + b"\n")
        secret.chmod(0o600)
        config = self.box.folder / "notify.yaml"
        config.write_text("version: 1\nnotify:\n" + "".join(
            f'  {name}: {{url: "{url if isinstance(url, str) else url[0]}", secret_file: hook.secret'
            f'{"" if isinstance(url, str) else ", " + url[1]}}}\n' for name, url in webhooks.items()))
        return self.box.start_sluiced("--config", str(config))

    def refused_start(self, *more):
        """-> the log of a start that ends at its sluice.yaml"""
        self.box.sluiced = self.box.start(
            [self.box.sluiced_program, "--config", self.box.folder / "notify.yaml", "--socket", self.box.api_socket,
             "--state-dir", self.box.folder / "policy", *more], "sluiced.log")
        self.assertEqual(self.box.sluiced.wait(60), 1)
        return self.box.log("sluiced.log")

    def notify(self, how):
        self.apply(RULES.replace("NOTIFY", how))

    def health(self, name):
        health = json.loads(self.box.api("GET", "/v1/health")[1])
        return next(one for one in health["notify"] if one["name"] == name)

    def metrics(self):
        return self.box.api("GET", "/v1/metrics")[1].decode()

    def panic(self, word):
        self.assertEqual(self.box.ctl("panic", word).returncode, 0)


class Notify(NotifyCase):
    def setUp(self):
        super().setUp()
        self.box.start_dataplane(*NULL)

    def test_a_limit_a_ban_and_their_end_are_told_and_signed(self):
        webhook = self.webhook()
        self.start(ops=webhook.url)
        self.notify("ops")
        wait_until("a limit and a ban", lambda: {"limit", "ban"} <= set(webhook.events()))
        self.panic("pass")
        wait_until("the end", lambda: "over" in webhook.events(), 120)
        self.assertEqual(webhook.wrong, [])
        for notice in webhook.taken:
            jsonschema.validate(notice, SCHEMA)
            self.assertEqual((notice["rule"], notice["mode"]), ("all", "enforce"))
        ban = next(notice for notice in webhook.taken if notice["event"] == "ban")
        self.assertEqual((ban["examples"][0]["edge"], ban["examples"][0]["for_s"]), ("start", 2.0))
        self.assertGreaterEqual(webhook.taken[-1]["for_s"], 0)
        self.assertEqual(len({notice["id"] for notice in webhook.taken}), len(webhook.taken))
        told = self.health("ops")
        self.assertEqual((told["sent"], told["failed"], told["problem"]), (len(webhook.taken), 0, None))
        self.assertIn(f'sluice_notify_total{{webhook="ops",outcome="sent"}} {told["sent"]}\n', self.metrics())
        everything = self.box.api("GET", "/v1/health")[1].decode() + self.metrics() + self.box.log("sluiced.log")
        self.assertNotIn(SECRET.decode(), everything)
        self.assertNotIn("/hook", everything)

    def test_an_attack_under_way_is_told_to_rules_that_come(self):
        """Each rule refuses one key from its first packet on, without a pause: its limit starts once."""
        webhook = self.webhook()
        self.start(ops=webhook.url)
        told = lambda event: {notice["rule"] for notice in list(webhook.taken) if notice["event"] == event}
        rule = "".join(line + "\n" for line in RULES.splitlines()[2:] if "ban:" not in line)
        rule = rule.replace("NOTIFY", "{to: ops, on: [limit, over]}")
        ids = [f"all-{i}" for i in range(6)]
        for i in range(len(ids)):
            # The first has its like without `notify` before it, the others one more rule each time.
            if i == 0:
                self.apply("version: 1\nrules:\n" + "".join(line + "\n" for line in rule.splitlines() if "notify" not in line))
            self.apply("version: 1\nrules:\n" + "".join(rule.replace("id: all", f"id: {one}").replace("enforce", "monitor")
                                                       for one in ids[:i + 1]))
            wait_until(f"the limit of {ids[i]}", lambda: ids[i] in told("limit"))
        self.panic("pass")
        wait_until("their end", lambda: told("over") == set(ids), 120)
        self.assertEqual(webhook.wrong, [])

    def test_an_error_is_tried_again_and_a_refusal_is_not(self):
        webhook, gone, moved = self.webhook(500, 503), self.webhook(410), self.webhook(302)
        self.start(ops=webhook.url, gone=gone.url, moved=moved.url)
        self.notify("{to: ops, on: [limit]}")
        wait_until("the third attempt", webhook.events)
        self.assertEqual(webhook.events()[0], "limit")
        wait_until("it to be counted", lambda: self.health("ops")["sent"])
        self.assertGreaterEqual(self.health("ops")["retried"], 2)
        self.assertEqual(self.health("ops")["failed"], 0)
        for name, status in (("gone", 410), ("moved", 302)):
            done = self.box.ctl("notify", "test", name)
            self.assertEqual(done.returncode, 1)
            self.assertIn(f"it answered {status}", done.stderr)
        self.assertEqual((gone.asked, moved.asked), (1, 1), "redirects are not followed")

    def test_one_that_never_answers_holds_up_nobody(self):
        silent, webhook = self.webhook(*[None] * 50), self.webhook()
        sluiced = self.start(silent=silent.url, ops=webhook.url)
        self.notify("{to: silent, on: [limit, ban]}")
        wait_until("it to be called", lambda: silent.asked)
        done = self.box.ctl("notify", "test", "ops")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("it answered 200", done.stdout)
        self.assertEqual(webhook.events(), ["test"])
        wait_until("its time to be over", lambda: self.health("silent")["problem"])
        self.assertIn("does not take notices: Timeout was reached", self.box.ctl("health").stdout)
        self.assertGreater(self.health("silent")["queued"], 0)
        # It ends within its last tries, and says what is lost.
        begin = time.monotonic()
        self.assertEqual(self.box.kill(sluiced, 15), 0)
        self.assertLess(time.monotonic() - begin, 30)
        self.assertIn("the webhook silent was not told of", self.box.log("sluiced.log"))

    def test_a_certificate_is_verified_by_the_webhooks_own_file(self):
        self.certificate("other.pem")
        webhook = self.webhook(certificate=self.certificate("ours.pem"))
        elsewhere = webhook.url.replace("127.0.0.1", "localhost")
        self.start(ops=(webhook.url, "ca_file: ours.pem"), system=webhook.url, wrong=(webhook.url, "ca_file: other.pem"),
                   name=(elsewhere, "ca_file: ours.pem"))
        done = self.box.ctl("notify", "test", "ops")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual((webhook.events(), webhook.wrong, webhook.asked), (["test"], [], 1))
        for name in ("wrong", "system", "name"):
            done = self.box.ctl("notify", "test", name)
            self.assertEqual(done.returncode, 1, name)
            self.assertIn("certificate", done.stderr)
            told = self.health(name)
            self.assertEqual((told["sent"], told["failed"], told["queued"]), (0, 1, 0))
            self.assertIn("certificate", told["problem"])
            self.assertIn(f'sluice_notify_total{{webhook="{name}",outcome="failed"}} 1\n', self.metrics())
            said = " ".join(self.box.ctl("health").stdout.split())
            self.assertIn(f"the webhook {name} does not take notices: ", said)
            self.assertIn(f"the webhook {name} was not told of 1 notices", said)
        # A rule's notice is tried again: somebody may mend the file of certificates of the server.
        self.notify("{to: wrong, on: [limit]}")
        wait_until("the second attempt", lambda: self.health("wrong")["retried"])
        self.assertEqual((self.health("wrong")["queued"], webhook.asked), (1, 1), "it has heard of nothing")
        # Without certificates in the file there is no start.
        self.box.kill(self.box.sluiced, 15)
        for spoil, said in ((lambda file: file.write_text("none\n"), "ours.pem has no certificate"),
                            (lambda file: file.unlink(), "cannot read")):
            spoil(self.box.folder / "ours.pem")
            self.assertIn("the ca_file of the webhook `ops`: ", self.refused_start())
            self.assertIn(said, self.box.log("sluiced.log"))
        # Nor is there with one that its user may not read: the notices are sent by him.
        self.certificate("ours.pem")
        os.chmod(self.box.folder / "ours.pem", 0o600)
        self.assertIn("ours.pem: Permission denied", self.refused_start("--user", "nobody"))

    def expect_loss_to_be_told(self, name):
        """More may be lost meanwhile."""
        def lost():
            told = self.health(name)
            return told["failed"] + told["dropped"]
        before = lost()
        text = " ".join(self.box.ctl("health").stdout.split())
        said = re.search(rf"the webhook {name} was not told of (\d+) notices since", text)
        self.assertTrue(said, text)
        self.assertIn(int(said[1]), range(before, lost() + 1))

    def test_a_full_queue_drops_the_oldest_and_says_so(self):
        """More rules begin to refuse at once than notices may wait."""
        silent, webhook = self.webhook(*[None] * 50), self.webhook()
        sluiced = self.start(silent=silent.url, ops=webhook.url)
        rule = RULES.split("rules:\n")[1].replace("enforce", "monitor").replace("NOTIFY", "{to: silent, on: [limit, ban]}")
        rules = 80
        self.apply("version: 1\nrules:\n" + "".join(rule.replace("id: all", f"id: all-{i}") for i in range(rules)))
        wait_until("notices to be dropped", lambda: self.health("silent")["dropped"] >= 2 * rules - TOLD_AT_ONCE)
        told = self.health("silent")
        self.assertEqual((told["queued"], told["sent"]), (TOLD_AT_ONCE, 0))
        metrics = self.metrics()
        self.assertIn(f'sluice_notify_queue{{webhook="silent"}} {TOLD_AT_ONCE}\n', metrics)
        self.assertIn('sluice_notify_total{webhook="silent",outcome="sent"} 0\n', metrics)
        self.assertNotIn('sluice_notify_total{webhook="silent",outcome="dropped"} 0\n', metrics)
        self.expect_loss_to_be_told("silent")
        self.assertEqual(self.box.ctl("notify", "test", "ops").returncode, 0)
        self.assertEqual(webhook.events(), ["test"])
        begin = time.monotonic()
        self.assertEqual(self.box.kill(sluiced, 15), 0)
        self.assertLess(time.monotonic() - begin, 30)
        self.assertIn(f"the webhook silent was not told of {TOLD_AT_ONCE} notices, which are lost", self.box.log("sluiced.log"))

    def test_a_webhook_that_is_not_there_is_refused_by_apply_and_kept_rules_go_on(self):
        webhook = self.webhook()
        sluiced = self.start(ops=webhook.url)
        done = self.box.apply(RULES.replace("NOTIFY", "opz"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("rules.yaml:8:13: error: sluice.yaml has no webhook `opz`", done.stderr)
        self.notify("ops")
        self.box.kill(sluiced, 15)
        self.start(other=webhook.url)
        wait_until("a notice for nobody", lambda: "sluice_notify_unknown_total 0" not in self.metrics())
        told = self.health("ops")
        self.assertEqual((told["problem"], told["sent"], told["queued"]), ("sluice.yaml has no such webhook; named by all", 0, 0))
        self.assertGreater(told["failed"], 0)
        self.assertIn("the webhook ops does not take notices: sluice.yaml has no such webhook", " ".join(self.box.ctl("health").stdout.split()))
        self.assertIn("the webhook ops is told of nothing: sluice.yaml has no such webhook; named by all", self.box.log("sluiced.log"))
        rules = json.loads(self.box.api("GET", "/v1/rules")[1])
        self.assertEqual([rule["id"] for rule in rules["rules"]], ["all"])
        self.assertEqual(self.box.ctl("notify", "test", "ops").returncode, 1)

    def test_bad_secrets_end_the_start(self):
        webhook = self.webhook()
        self.start(ops=webhook.url)
        self.box.kill(self.box.sluiced, 15)
        os.chmod(self.box.folder / "hook.secret", 0o644)
        self.assertIn("the secret of the webhook `ops`", self.refused_start())
        self.assertIn("lets others read or write it", self.box.log("sluiced.log"))

    def test_no_notice_goes_to_a_link_local_address(self):
        webhook = self.webhook()
        self.start(cloud=webhook.url)
        self.box.kill(self.box.sluiced, 15)
        config = self.box.folder / "notify.yaml"
        config.write_text(config.read_text().replace(webhook.url, "http://169.254.169.254/latest/"))
        self.assertIn("notify.yaml:3:16: error: no notice goes to a link-local address", self.refused_start())
        done = self.box.ctl("box-config", str(config), "-o", str(self.box.folder / "box.bin"))
        self.assertEqual(done.returncode, 1)
        self.assertIn("notify.yaml:3:16: error: no notice goes to a link-local address", done.stderr)


class NotifyOfState(NotifyCase):
    """The state directory takes nothing any more."""

    def mount(self, *arguments):
        subprocess.run(["mount", *arguments, self.box.folder / self.box.dataplane_state], check=True, capture_output=True, timeout=60)

    def test_state_that_will_not_survive_is_told(self):
        state = self.box.folder / self.box.dataplane_state
        state.mkdir()
        self.mount("-t", "tmpfs", "-o", "size=100m,mode=700", "none")
        self.addCleanup(subprocess.run, ["umount", "-l", state], capture_output=True)
        self.box.start_dataplane(*NULL)
        webhook, others = self.webhook(), self.webhook()
        self.start(ops=webhook.url, others=others.url)
        self.notify("{to: ops, on: [state]}")
        self.assertTrue(self.box.stats()["state"]["survives"])
        # Nothing is wrong yet, and nothing is told: what is told then comes behind this.
        self.assertEqual(self.box.ctl("notify", "test", "ops").returncode, 0)
        self.box.kill(self.box.dataplane)
        self.mount("-o", "remount,ro")
        self.box.start_dataplane(*NULL)
        wait_until("the loss to be told", lambda: "state" in webhook.events())
        self.assertEqual(webhook.events(), ["test", "state"])
        notice = webhook.taken[-1]
        jsonschema.validate(notice, SCHEMA)
        self.assertFalse(notice["survives"])
        self.assertGreater(notice["not_kept"], 0)
        self.assertEqual((webhook.wrong, others.asked), ([], 0))


if __name__ == "__main__":
    main()
