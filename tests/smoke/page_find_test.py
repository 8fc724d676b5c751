"""The search box, the screen Find and the panic button of the dashboard's page, in Chromium.

    page_find_test.py PAGE MODULES [short | TEST...]
"""
from page_case import HOSTILE, main, PageCase
from page_stand_in import utc

SHORT = ("Find.test_an_address_finds_all_that_concerns_it", "Panic.test_it_asks_for_the_name_of_the_box")


class Find(PageCase):
    def seek(self, text):
        self.browser.run("document.querySelector('#search').value = ''")
        self.browser.press("Escape", "/")
        self.browser.run("const box = document.querySelector('#search'); box.value = arguments[0];"
                         "box.dispatchEvent(new Event('input', {bubbles: true}))", text)
        self.browser.press("Enter")

    def test_an_address_finds_all_that_concerns_it(self):
        stand_in = self.begin()
        self.enter(stand_in)
        self.seek("192.0.2.1")
        self.browser.wait_for("findings", "return document.querySelectorAll('.findings tbody tr').length === 2")
        self.assertEqual(self.browser.run("return location.hash"), "#/find/192.0.2.1")
        shown = self.browser.text("main")
        for words in ("its condition names it as ip.src, in $bad by 192.0.2.0/24 (line 3) and 1 more: drop", "is banned by ada, because: because",
                      "70\u2009000", "banned by operator, all that the source sends", "rule-00004"):
            self.assertIn(words, shown.replace("\u00a0", " "))
        self.browser.run("[...document.querySelectorAll('main button')].find((b) => b.innerText === 'More').click()")
        self.browser.wait_for("the second page", "return document.querySelectorAll('.findings tbody tr').length === 3")
        self.assertIn("0 of 5 left on core 2, the next in 0.2 s", self.browser.text("main"))
        self.browser.show_as(390, 844)
        self.judge_screen("find-390", 390)
        self.judge_access()
        self.browser.click(".findings tbody th a")
        self.browser.wait_for("its row", "return document.querySelector('table.rules tbody th')?.innerText === 'rule-00001'")
        self.nothing_amiss()

    def test_a_rule_has_its_row_and_a_host_is_looked_for(self):
        stand_in = self.begin()
        self.enter(stand_in)
        self.seek("00003")
        self.browser.wait_for("its row", "return document.querySelectorAll('table.rules tbody tr').length === 1")
        self.seek("www.example.net")
        self.browser.wait_for("nothing", "return document.querySelector('main').innerText.includes('no rule names it')")
        self.assertIn("about the host www.example.net", self.browser.text("main"))
        self.nothing_amiss()

    def test_whatever_was_sent_is_text_here_too(self):
        stand_in = self.begin()
        self.enter(stand_in)
        for text, shown in HOSTILE:
            with self.subTest(text[:40]):
                row = {"what": text, "rule": text, "kind": text, "mode": text}
                stand_in.found = ([row, {**row, "what": "ban", "key": text, "source": text, "until": text, "reason": text}], None)
                self.browser.run("location.hash = '#/overview'")
                self.browser.wait_for("overview", "return document.querySelector('.tiles') !== null")
                self.browser.run("location.hash = '#/find/' + encodeURIComponent(arguments[0])", text)
                self.browser.wait_for("findings", "return document.querySelectorAll('.findings tbody tr').length === 2")
                self.judge("find", shown, 6)
        self.nothing_amiss()

    def test_a_refusal_is_said_and_can_be_tried_again(self):
        stand_in = self.begin()
        self.enter(stand_in)
        stand_in.found = ([], None)
        self.browser.run("location.hash = '#/find/'")
        self.browser.wait_for("a word", "return document.querySelector('main').innerText.includes('Nothing is looked for')")
        stand_in.tokens = {"another"}
        self.browser.run("location.hash = '#/find/x'")
        self.browser.wait_for("the refusal", "return document.querySelector('.lock form') !== null"
                              " || document.querySelector('main').innerText.includes('ask for a link')")


class Panic(PageCase):
    def ask_for(self):
        self.browser.run("[...document.querySelectorAll('header button.danger')][0].click()")
        self.browser.wait_for("the dialog", "return document.querySelector('dialog.panic[open]') !== null")

    def calls(self, stand_in):
        return [body for method, path, body in stand_in.asked if path == "/v1/panic"]

    def test_it_asks_for_the_name_of_the_box(self):
        stand_in = self.begin()
        self.enter(stand_in)
        for width in (390, 1280):
            self.browser.show_as(width, 844)
            stand_in.asked.clear()
            self.ask_for()
            self.assertLessEqual(self.browser.run("const r = document.querySelector('dialog.panic').getBoundingClientRect(); return r.right"), width)
            self.judge_screen(f"panic-{width}", width)
            self.judge_access()
            self.browser.type("dialog.panic input", "edge-2\ue007")
            self.browser.click("dialog.panic .danger")
            self.assertEqual(self.calls(stand_in), [])
            self.browser.type("dialog.panic input", "\ue003" * 6 + "edge-1\ue007")
            self.browser.wait_for("the panic", "return document.querySelector('dialog.panic') === null"
                                  " && document.querySelector('.state').innerText.includes('panic')")
            self.assertEqual(self.calls(stand_in), [{"pass": True}])
            self.ask_for()
            self.browser.type("dialog.panic input", "edge-1\ue007")
            self.browser.wait_for("judging", "return document.querySelector('.state').innerText.includes('judging')")
            self.assertEqual(self.calls(stand_in), [{"pass": True}, {"pass": False}])
        self.nothing_amiss()

    def test_escape_does_nothing_and_a_role_that_may_not_is_told(self):
        stand_in = self.begin()
        self.enter(stand_in)
        self.ask_for()
        self.browser.press("Escape")
        self.browser.wait_for("no dialog", "return document.querySelector('dialog.panic') === null")
        self.assertEqual(self.calls(stand_in), [])
        stand_in.who = {**stand_in.who, "role": "operate", "verbs": {}}
        self.enter(stand_in, "?again")
        self.assertTrue(self.browser.run("return document.querySelector('header button.danger').disabled"))
        self.assertIn("your role is operate; this wants admin", self.browser.text("header"))
        self.nothing_amiss()

    def test_two_presses_of_confirm_are_one_call(self):
        stand_in = self.begin(trial={"seconds_left": 41.3, "until": utc(0), "goes_back_to": None})
        self.enter(stand_in)
        self.browser.wait_for("the trial", "return document.querySelector('.trial button:not([disabled])') !== null")
        self.browser.run("const [confirm, back] = document.querySelectorAll('.trial button'); back.click(); back.click(); confirm.click()")
        self.browser.wait_for("no trial", "return document.querySelector('.trial') === null")
        self.assertEqual([path for method, path, _ in stand_in.asked if method == "POST" and path != "/v1/session"], ["/v1/rollback"])


if __name__ == "__main__":
    main(SHORT)
