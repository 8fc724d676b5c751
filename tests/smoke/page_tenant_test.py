"""The dashboard of a tenant's people, in Chromium: their screens, and nothing that is another's.

    page_tenant_test.py PAGE MODULES [short | TEST...]
"""
import page.rule
from page import tenants
from page.bans import ban
from page.events import made
from page_case import main, PageCase

SHORT = ("Tenant.test_every_screen_of_theirs_and_no_other", "Tenant.test_their_rules_on_trial_and_confirmed",
         "Tenant.test_what_is_written_outlasts_a_trial_that_nobody_confirms",
         "Tenant.test_nothing_is_asked_before_it_is_known_who_looks")
# Each screen of theirs, and what shows that it is there.
SCREENS = {"overview": "document.querySelector('main table') !== null", "rules": "document.querySelector('table.rules tbody tr') !== null",
           "builder": "document.querySelector('main .code') !== null", "events": "document.querySelector('table.events tbody tr') !== null",
           "bans": "document.querySelector('table.bans tbody tr') !== null", "playground": "document.querySelector('main form, main select') !== null"}


class Tenant(PageCase):
    def begin_as(self, **more):
        stand_in = tenants.begin(self.begin(rules=5, **more))
        stand_in.events_log = [{**made(number), "rule": f"acme:rule-{number:05}"} for number in range(3)]
        stand_in.bans = [{**ban(number), "rule": "acme:rule-00001"} for number in range(3)]
        return stand_in

    def test_every_screen_of_theirs_and_no_other(self):
        stand_in = self.begin_as()
        self.enter(stand_in)
        self.assertEqual(self.browser.run("return [...document.querySelectorAll('nav a')].map((a) => a.textContent.toLowerCase())"), list(SCREENS))
        self.assertEqual(self.browser.run("return [...document.querySelectorAll('.box dd')].map((d) => d.textContent)")[0], "acme")
        self.assertIn("eve, tenant", self.browser.run("return document.querySelector('.caller').textContent"))
        self.assertEqual(self.browser.run("return document.querySelectorAll('header .danger, header form[role=search]').length"), 0)
        for screen, ready in SCREENS.items():
            self.open(screen, ready)
            text = self.browser.run("return document.body.textContent")
            for theirs in ("edge-1", "other:", "acme:", "uplink"):
                self.assertNotIn(theirs, text, screen)
        self.assertIn("rule-00001", self.browser.run("location.hash = '#/rules'; return new Promise((d) => setTimeout(() => d(document.querySelector('main').textContent), 500))"))
        stand_in.one_rule = page.rule.RuleAnswers()
        stand_in.before.append(page.rule)
        self.browser.run("location.hash = '#/rule/acme%3Arule-00001'")
        self.browser.wait_for("the rule", "return document.querySelector('main canvas') !== null && document.querySelector('p.name strong') !== null")
        self.assertEqual(self.browser.run("return document.querySelector('p.name strong').textContent"), "rule-00001")
        self.assertEqual(self.browser.run("return document.querySelectorAll('main a[href*=\"#/key\"]').length"), 0)
        self.assertNotIn("acme:", self.browser.run("return document.querySelector('main').textContent"))
        # Screens that are the operators' are none, whoever has a link to one.
        for screen in ("sets", "key", "trace", "workers", "ports", "find"):
            self.browser.run("location.hash = arguments[0]", f"#/{screen}")
            self.browser.wait_for(screen, "return document.querySelector('nav a[aria-current]')?.textContent === 'Overview'")
        self.assertEqual(vars(stand_in).get("refused", []), [], "the page asked for what is refused")
        self.nothing_amiss()

    def test_their_rules_on_trial_and_confirmed(self):
        stand_in = self.begin_as()
        self.enter(stand_in)
        self.browser.show_as(390, 844)
        self.open("builder", "document.querySelector('main textarea') !== null")
        write = lambda text: self.browser.run(  # noqa: E731
            "const t = document.querySelector('main textarea'); t.value = arguments[0]; t.dispatchEvent(new Event('input', {bubbles: true}))", text)
        write("version: 1\nNO: 1\n")
        self.press_button("Check")
        self.browser.wait_for("the error", "return document.querySelector('.text-problems')?.textContent.includes('no such key')")
        self.assertNotIn("Elsewhere", self.browser.run("return document.querySelector('.text-problems').textContent"))
        write("version: 1\nrules: [{id: web}]\n")
        self.press_button("Check")
        self.press_button("Apply for 60 s")
        self.browser.wait_for("the trial", "return document.querySelector('main [role=status]')?.textContent.includes('goes back by itself')")
        self.assertEqual(stand_in.tenant_text, "version: 1\nrules: [{id: web}]\n")
        self.assertEqual(stand_in.if_match, f'"{tenants.tag(chr(10).join(("version: 1", "rules: []", "")))}"')
        self.press_button("Confirm")
        self.browser.wait_for("that it stays", "return document.querySelector('main [role=status]')?.textContent.includes('stays in force')")
        self.assertIsNone(stand_in.tenant_trial)
        for text in ("version: 1\nrules: []\n", "version: 1\nrules: [{id: web}]\n"):
            self.press_button("Bring back the rules before these")
            self.browser.wait_for("them", "return document.querySelector('main textarea').value === arguments[0]", text)
        write("version: 1\nrules: [{id: other}]\n")
        self.press_button("Check")
        self.press_button("Apply for 60 s")
        self.press_button("Go back now")
        self.browser.wait_for("that it went back", "return document.querySelector('main [role=status]')?.textContent.includes('went back')")
        self.assertEqual(stand_in.tenant_text, "version: 1\nrules: [{id: web}]\n")
        self.nothing_amiss(but=("422",))

    def test_what_is_written_outlasts_a_trial_that_nobody_confirms(self):
        stand_in = self.begin_as()
        self.enter(stand_in)
        self.browser.show_as(390, 844)
        self.open("builder", "document.querySelector('main textarea') !== null")
        text, before = "version: 1\nrules: [{id: kept}]\n", stand_in.tenant_text
        self.browser.run("const t = document.querySelector('main textarea'); t.value = arguments[0]; t.dispatchEvent(new Event('input', {bubbles: true}))", text)
        self.press_button("Check")
        self.press_button("Apply for 60 s")
        self.browser.wait_for("the trial", "return document.querySelector('main [role=timer]')?.textContent.includes('go back in')")
        self.browser.run("location.reload()")
        self.browser.wait_for("the trial again", "return document.querySelector('main [role=timer]') !== null")
        [stand_in.tenant_text, stand_in.tenant_trial] = [before, None]  # its time is over
        self.browser.wait_for("that it went back", "return document.querySelector('main [role=status]')?.textContent.includes('What you wrote is kept')")
        self.assertEqual(self.browser.run("return document.querySelector('main textarea').value"), text)
        self.press_button("Throw my changes away")
        self.browser.wait_for("the text in force", "return document.querySelector('main textarea').value === arguments[0]", before)
        self.nothing_amiss(but=("422",))

    def test_nothing_is_asked_before_it_is_known_who_looks(self):
        stand_in = self.begin_as()
        self.enter(stand_in)
        self.browser.show_as(390, 844)
        self.open("builder", "document.querySelector('main textarea') !== null")
        stand_in.is_told_who.clear()
        self.browser.run("location.reload()")
        self.browser.wait_for("the question", "return document.querySelector('.lock')?.textContent.includes('who you are')")
        # Two frames: what a screen asks for is asked behind the first.
        self.browser.run("return new Promise((done) => requestAnimationFrame(() => requestAnimationFrame(() => done(0))))")
        stand_in.is_told_who.set()
        self.browser.wait_for("their rules", "return document.querySelector('main textarea')?.value === arguments[0]", stand_in.tenant_text)
        self.assertEqual(vars(stand_in).get("refused", []), [])
        self.nothing_amiss()


if __name__ == "__main__":
    main(SHORT)
