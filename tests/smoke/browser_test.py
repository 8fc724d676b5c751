"""Chromium in front of a box that answers, nginx behind it; tshark reads what went over both links.

    browser_test.py DATAPLANE SLUICED SLUICECTL

Wants root, and the packages of the group `browser` of scripts/packages.txt (scripts/test browser installs them).
"""
import time

from box_case import main
from browser import Browser
from clients_case import NginxCase
from http_hosts import run_within, within
from programs import ip


class Chromium(NginxCase):
    def test_shows_the_refusal_waits_and_is_served(self):
        self.rules("action: reply", when='http.request.uri.path eq "/page"', rate="30/m")
        url = f"http://{self.ADDRESS}/page"
        outside = self.hosts.outside
        ip("-n", outside, "link", "set", "lo", "up")
        browser = Browser(self.box.start, self.box.folder, lambda command: run_within(outside, *command), lambda: within(outside))
        self.addCleanup(browser.close)
        status, _, shown = browser.open(url)
        self.assertEqual((status, shown), (200, "a page"))
        served = 1
        while (answer := browser.open(url))[0] == 200:  # a slow machine may come late enough to be admitted
            served += 1
            self.assertLess(served, 20)
        status, headers, shown = answer
        self.assertEqual((status, headers["Content-Type"]), (429, "application/problem+json"))
        self.assertIn('"violated-policies"', shown)
        time.sleep(int(headers["Retry-After"]))  # what the response promises
        status, _, shown = browser.open(url)
        self.assertEqual((status, shown), (200, "a page"))
        self.assertEqual(self.counts("page"), (served + 1, 1))
        self.assertEqual([path for path in self.served() if path == "/page"], ["/page"] * (served + 1))
        self.judge_both_ends()


if __name__ == "__main__":
    main()
