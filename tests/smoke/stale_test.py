"""A page that is open while sluiced dies, and while the dataplane does: nothing on it looks live, and it comes back by itself.

    stale_test.py DATAPLANE SLUICED SLUICECTL

Wants chromium and chromium-driver (scripts/test browser installs them).
"""
import contextlib
import re
import socket
import threading
import time

from box_case import BoxCase, main, QUIET
from programs import wait_until
from real_page import RealPageCase

SCREENS = ("overview", "rules", "rule/web", "events", "bans", "workers", "ports", "sets", "playground", "key/web?key=192.0.2.1", "find/192.0.2.1", "trace")
NEVER_OPENED = "builder?rule=web"
LIVE = ("overview", "rules", "rule/web", "workers", "ports")  # those with numbers of each second
LEAST, MOST = 2.5, 30  # s until a page looks old; the machine may be slow
RULES = """version: 1
rules:
  - {id: web, mode: enforce, when: l4.dport eq 80, key: [ip.src], heatmap: on, events: [limit_start],
     limits: [{algorithm: token_bucket, rate: 1/s, burst: 2}], on_exceed: {action: drop}}
"""
# Numbers that look as if they were of now.
FRESH = ("return [...document.querySelectorAll('.num')].filter((n) => !getComputedStyle(n).backgroundImage.includes('gradient')).map((n) => n.outerHTML)")


class Forward(threading.Thread):
    """As `ssh -L`: a port of this machine is a socket of sluiced; whoever is at the port is whom the socket lets in."""

    def __init__(self, path):
        super().__init__(daemon=True)
        self.path, self.listening = path, socket.create_server(("127.0.0.1", 0))
        self.port = self.listening.getsockname()[1]
        self.start()

    def run(self):
        with contextlib.suppress(OSError):
            while True:
                client = self.listening.accept()[0]
                server = socket.socket(socket.AF_UNIX)
                try:
                    server.connect(self.path)
                except OSError:
                    for each in (client, server):
                        each.close()
                    continue
                for one, other in ((client, server), (server, client)):
                    threading.Thread(target=self.pass_on, args=(one, other), daemon=True).start()

    @staticmethod
    def pass_on(one, other):
        with contextlib.suppress(OSError):
            while part := one.recv(65536):
                other.sendall(part)
        for each in (one, other):
            with contextlib.suppress(OSError):
                each.shutdown(socket.SHUT_RDWR)
            each.close()

    def close(self):
        with contextlib.suppress(OSError):
            self.listening.shutdown(socket.SHUT_RDWR)
        self.listening.close()


class Stale(RealPageCase, BoxCase):
    def setUp(self):
        super().setUp()
        self.dataplane = self.box.start_dataplane(*QUIET)
        self.start_web()
        self.apply(RULES)

    def restart_sluiced(self):
        self.box.start_sluiced("--config", str(self.box.folder / "web.yaml"), connected=False)

    def show(self, fragment):
        self.browser.run("location.hash = arguments[0]", "#/" + fragment)
        self.browser.wait_for(fragment, "return document.querySelector('nav a[aria-current]') !== null && !/is fetched…/.test(document.querySelector('main').textContent)")

    def instant_shown(self):
        return self.browser.text(".age")

    def grows_old(self):
        """From the death of sluiced on: the page looks old after 3 s, not before, and says of when it is."""
        died = time.monotonic()
        self.browser.wait_for("the page to look old", "return document.querySelector('.page.stale') !== null")
        waited = time.monotonic() - died
        self.assertTrue(LEAST - 1 < waited < MOST, waited)  # the last answer came up to a second before
        found = re.search(r"Last answer ([0-9:]{8} UTC), (\d+) s ago\. (.*)", self.instant_shown())
        self.assertIsNotNone(found, self.instant_shown())
        self.assertIn("sluiced does not answer", found[3])
        return found[1]

    def enter_by_the_socket(self):
        """Without a session: by whom the socket lets in, so that another sluiced lets the same page in."""
        forward = Forward(str(self.box.folder / "sluiced-read.sock"))
        self.addCleanup(forward.close)
        self.browse()
        self.browser.run("sessionStorage.clear()")
        self.browser.load("about:blank")
        self.browser.load(f"http://127.0.0.1:{forward.port}/")
        self.live_again()

    def live_again(self):
        self.browser.wait_for("a live page", "return document.querySelector('.box') !== null && document.querySelector('.page.stale') === null")

    def test_sluiced_dies_and_comes_back(self):
        self.enter_by_the_socket()
        for screen in LIVE:
            with self.subTest(screen):
                self.show(screen)
                self.browser.wait_for("its numbers", "return document.querySelectorAll('.num').length > 8")
                self.box.kill(self.box.sluiced)
                self.grows_old()
                self.assertEqual(self.browser.run(FRESH), [])
                self.assertGreater(self.browser.run("return document.querySelectorAll('.num').length"), 8)
                self.restart_sluiced()
                self.live_again()
                self.assertIn("sluiced was started anew", self.browser.text("header"))
                self.assertNotIn("Last answer", self.instant_shown())
        self.assertEqual(self.browser.run("return window.seen.errors"), [])

    def test_screens_that_are_opened_meanwhile(self):
        """Those that are here look old; one that was never here says that it cannot be fetched, and is by a button."""
        self.enter_by_the_socket()
        for screen in SCREENS:
            self.show(screen)
        self.show("overview")
        self.box.kill(self.box.sluiced)
        instant = self.grows_old()
        for screen in SCREENS:
            with self.subTest(screen):
                self.show(screen)
                self.assertEqual(self.browser.run(FRESH), [])
                self.assertIn(f"Last answer {instant}", self.instant_shown())
        self.show(NEVER_OPENED)
        self.browser.wait_for("a word", "return document.querySelector('main').textContent.includes('could not be fetched')")
        self.restart_sluiced()
        self.live_again()
        self.press("Try again")
        self.browser.wait_for("the screen", "return document.querySelector('.editor, .code textarea') !== null")

    def test_a_session_of_before_is_over_and_nothing_looks_live(self):
        self.browse("operate")
        self.box.kill(self.box.sluiced)
        self.grows_old()
        self.restart_sluiced()
        self.browser.wait_for("the lock", "return document.querySelector('.lock form') !== null")
        self.assertIn("sluicectl dashboard", self.browser.text(".lock"))
        self.assertEqual(self.browser.run(FRESH), [])

    def test_the_dataplane_dies_and_comes_back(self):
        self.browse()
        for screen in LIVE:
            self.show(screen)
        self.box.kill(self.dataplane)
        self.browser.wait_for("the page to say so", "return document.querySelector('.state.grave') !== null && /no dataplane/i.test(document.querySelector('header').textContent)")
        self.show("overview")
        self.browser.wait_for("no rate", "return document.querySelector('.tiles') === null && document.querySelector('main .empty') !== null")
        self.browser.wait_for("what is wrong", "return document.querySelectorAll('.problems li').length > 0")
        self.show("rules")
        self.browser.wait_for("no number of rules", "return [...document.querySelectorAll('table.rules tbody td.refused')].every((cell) => cell.querySelector('.num.none') !== null)")
        for screen in ("workers", "ports"):
            self.show(screen)
            self.browser.wait_for("old numbers, or none", "return [...document.querySelectorAll('main .num:not(.none)')].every((n) => getComputedStyle(n).backgroundImage.includes('gradient'))")
        self.assertEqual(self.browser.run("return document.querySelector('.page.stale')"), None)  # sluiced answers, and knows
        self.box.start_dataplane(*QUIET)
        self.browser.wait_for("judging", "return document.querySelector('.state:not(.grave)') !== null && /judging/.test(document.querySelector('.state').textContent)")
        self.show("overview")
        self.browser.wait_for("rates", "return document.querySelector('.tiles') !== null")
        self.assertEqual(self.browser.run("return window.seen.errors"), [])


if __name__ == "__main__":
    main()
