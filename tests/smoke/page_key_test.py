"""The screen of one key: what is left to it, what is done to it, and why a described packet would be dropped.

    page_key_test.py PAGE MODULES [short | TEST...]
"""
import page.key
from page_case import HOSTILE, main, PageCase
from page_work import WorkCase

SHORT = ("Key.test_a_described_request_is_explained", "Key.test_texts_of_others")


class Key(WorkCase, PageCase):
    def open(self, fragment, **members):
        stand_in = self.begin(before=[page.key], **members)
        self.enter(stand_in)
        self.browser.run("location.hash = arguments[0]", fragment)
        self.browser.wait_for("the screen", "return document.querySelector('.key-screen form') !== null")
        return stand_in

    def fill(self, name, value):
        self.put(f'main [name="{name}"]', value)

    def test_a_described_request_is_explained(self):
        stand_in = self.open("#/key")
        self.assertIn("the sender is no address", self.browser.text("main"))
        for name, value in (("src", "192.0.2.7"), ("dst", "198.51.100.1"), ("path", "/login"), ("host", "shop.example")):
            self.fill(name, value)
        self.press("Explain")
        self.browser.wait_for("the account", "return document.querySelector('.account') !== null")
        shown = self.browser.text(".verdict")
        for words in ("drop", "because: 192.0.2.7", "it would fit in 1.5 s"):
            self.assertIn(words, shown)
        [(_, path, body)] = [call for call in stand_in.asked if call[1].startswith("/v1/explain")]
        self.assertEqual(path, "/v1/explain?account=1")
        self.assertEqual(len(body["before"]), 3)
        self.assertIn(b"GET /login HTTP/1.1\r\nHost: shop.example\r\n", bytes.fromhex(body["packet"]["frame"]))
        self.judge_access()
        self.nothing_amiss()

    def test_a_key_is_shown_and_changed(self):
        stand_in = self.open("#/key/login?key=192.0.2.7&limit=1")
        self.browser.wait_for("the key", "return document.querySelector('.verdict')?.innerText.includes('banned')")
        self.assertIn("1 workers have not answered", self.browser.text("main"))
        self.browser.wait_for("its events in words", "return document.querySelector('main').innerText.includes('over its limit from now on')")
        self.fill("action", "ban")
        self.browser.wait_for("the reason that is missing", "return document.body.innerText.includes('it wants a reason')")
        self.fill("for", "2h")
        self.fill("reason", "scans")
        self.press("Ban")
        self.browser.wait_for("the end", "return document.body.innerText.includes('Done: Ban')")
        self.assertEqual([call[2] for call in stand_in.asked if call[0] == "POST" and call[1] == "/v1/rules/login/key"],
                         [{"key": "192.0.2.7", "action": "ban", "for": "2h", "reason": "scans"}])
        self.nothing_amiss()

    def test_texts_of_others(self):
        for text, shown in (HOSTILE[0], HOSTILE[2], HOSTILE[17]):
            with self.subTest(text[:30]):
                self.open("#/key/login?key=x", key_text=text)
                self.browser.wait_for("the key", "return document.querySelector('.verdict') !== null")
                self.fill("src", "192.0.2.7")
                self.fill("dst", "198.51.100.1")
                self.press("Explain")
                self.browser.wait_for("the account", "return document.querySelector('.account') !== null")
                self.judge("key", shown, 15)
                self.nothing_amiss()

    def test_on_a_phone(self):
        self.browser.show_as(390, 844, dark=True)
        self.open("#/key/login?key=192.0.2.7")
        self.browser.wait_for("the key", "return document.querySelector('.verdict') !== null")
        self.judge_screen("key-390-dark", 390)
        self.judge_access()


if __name__ == "__main__":
    main(SHORT)
