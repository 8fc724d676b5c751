"""`notify` of rules: notices to webhooks, with the real programs.

    notify_test.py DATAPLANE SLUICED SLUICECTL
"""
import json
import os
import pathlib
import time

import jsonschema

from box_case import NULL, BoxCase, main
from programs import wait_until
from webhook_server import Webhook

SCHEMA = json.loads((pathlib.Path(__file__).resolve().parents[2] / "control/schema/notice.schema.json").read_text())
SECRET = b"0123456789abcdef-of-a-test"
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


class Notify(BoxCase):
    def setUp(self):
        super().setUp()
        self.box.start_dataplane(*NULL)

    def webhook(self, *answers):
        webhook = Webhook(SECRET, answers)
        self.addCleanup(webhook.close)
        return webhook

    def start(self, **webhooks):
        """sluiced with these webhooks: by name, their URLs."""
        secret = self.box.folder / "hook.secret"
        secret.write_bytes(SECRET + b"\n")
        secret.chmod(0o600)
        config = self.box.folder / "notify.yaml"
        config.write_text("version: 1\nnotify:\n" + "".join(
            f'  {name}: {{url: "{url}", secret_file: hook.secret}}\n' for name, url in webhooks.items()))
        return self.box.start_sluiced("--config", str(config))

    def notify(self, how):
        self.apply(RULES.replace("NOTIFY", how))

    def health(self, name):
        health = json.loads(self.box.api("GET", "/v1/health")[1])
        return next(one for one in health["notify"] if one["name"] == name)

    def metrics(self):
        return self.box.api("GET", "/v1/metrics")[1].decode()

    def panic(self, word):
        self.assertEqual(self.box.ctl("panic", word).returncode, 0)

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
        rules = json.loads(self.box.api("GET", "/v1/rules")[1])
        self.assertEqual([rule["id"] for rule in rules["rules"]], ["all"])
        self.assertEqual(self.box.ctl("notify", "test", "ops").returncode, 1)

    def test_bad_secrets_end_the_start(self):
        webhook = self.webhook()
        self.start(ops=webhook.url)
        self.box.kill(self.box.sluiced, 15)
        os.chmod(self.box.folder / "hook.secret", 0o644)
        self.box.sluiced = self.box.start(
            [self.box.sluiced_program, "--config", self.box.folder / "notify.yaml", "--socket", self.box.api_socket,
             "--state-dir", self.box.folder / "policy"], "sluiced.log")
        self.assertEqual(self.box.sluiced.wait(60), 1)
        self.assertIn("the secret of the webhook `ops`", self.box.log("sluiced.log"))
        self.assertIn("lets others read or write it", self.box.log("sluiced.log"))

    def test_no_notice_goes_to_a_link_local_address(self):
        self.start(cloud="http://169.254.169.254/latest/")
        done = self.box.ctl("notify", "test", "cloud")
        self.assertEqual(done.returncode, 1)
        self.assertIn("link-local", done.stderr)


if __name__ == "__main__":
    main()
