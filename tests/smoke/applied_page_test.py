"""A rule from the builder's form to enforced and confirmed by a real box, and one that is left to go back.

    applied_page_test.py DATAPLANE SLUICED SLUICECTL

Wants chromium and chromium-driver (scripts/test browser installs them).
"""
from box_case import BoxCase, main, QUIET
from programs import wait_until
from real_page import RealPageCase

RULES = """version: 1
rules:
  - id: web   # of the shop
    mode: enforce
    when: l4.dport eq 80
    key: [ip.src]
    limits: [{algorithm: token_bucket, rate: 3/s, burst: 2}]
    on_exceed: {action: drop}
  - {id: other, mode: monitor, key: [], limits: [{algorithm: token_bucket, rate: 1/s, burst: 1}]}
"""
PATIENCE = 90  # s, of which a trial takes 60


class Applied(RealPageCase, BoxCase):
    def setUp(self):
        super().setUp()
        self.box.start_dataplane(*QUIET)
        self.start_web()
        self.apply(RULES)
        self.browse("admin")

    def rules_in_force(self):
        """As the dataplane's own set says it: the text of the rule, and whether it is on trial."""
        self.assertEqual(self.told("/v1/health")["dataplane"]["generation"], self.told("/v1/rules")["generation"])
        return self.told("/v1/rules/web/full")["source"]["text"], self.told("/v1/rules").get("unconfirmed")

    def try_out(self, rate):
        self.open("builder?rule=web", "document.querySelector('.builder .sentence') !== null")
        self.wait_for_text("# of the shop")
        self.set("Rate of limit 1", rate)
        self.wait_for_text(f"rate: {rate}/s")
        self.press("Review")
        self.browser.wait_for("the difference", "return document.querySelector('.set-diff') !== null")
        self.press("Apply for 60 s")
        self.browser.wait_for("the trial", "return document.querySelector('.trial') !== null && document.querySelector('.on-trial') !== null")
        text, trial = self.rules_in_force()
        self.assertIn(f"rate: {rate}/s", text)
        self.assertIsNotNone(trial)

    def test_from_the_form_to_enforced_and_confirmed(self):
        self.try_out("7")
        self.press("Confirm this rule")
        self.browser.wait_for("the end", "return document.body.innerText.includes('It is confirmed, and stays in force')")
        text, trial = self.rules_in_force()
        self.assertIsNone(trial)
        self.assertEqual(text.strip(), RULES.split("rules:\n")[1].split("  - {id: other")[0].replace("3/s", "7/s").strip())
        self.assertIn("token_bucket 7/s burst 2", self.box.ctl("rules", "web").stdout)
        self.nothing_amiss()

    def test_one_whose_page_is_closed_goes_back(self):
        self.try_out("9")
        self.browser.load("about:blank")
        wait_until("the rules of before", lambda: self.told("/v1/rules").get("unconfirmed") is None, PATIENCE)
        text, _ = self.rules_in_force()
        self.assertIn("rate: 3/s", text)


if __name__ == "__main__":
    main()
