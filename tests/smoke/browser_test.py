"""Chromium in front of a box that answers, nginx behind it; tshark reads what went over both links.

    browser_test.py DATAPLANE SLUICED SLUICECTL

Wants root, and the packages of the group `browser` of scripts/packages.txt (scripts/test browser installs them).
"""
import http.client
import json
import time

from box_case import main
from clients_case import NginxCase
from http_hosts import run_within, within
from programs import ip, wait_until

DRIVER_PORT = 9515
ARGUMENTS = ("--headless", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync")


class Browser:
    """Chromium with a profile of its own, told what to do through chromedriver (the W3C's WebDriver)."""

    def __init__(self, box, namespace):
        ip("-n", namespace, "link", "set", "lo", "up")
        self.namespace = namespace
        box.start(run_within(namespace, "chromedriver", f"--port={DRIVER_PORT}"), "chromedriver.log")
        wait_until("chromedriver to listen", self.is_ready)
        profile = box.folder / "profile"
        made = self.tell("POST", "/session", {"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"binary": "/usr/bin/chromium", "args": [*ARGUMENTS, f"--user-data-dir={profile}"]},
            "goog:loggingPrefs": {"performance": "ALL"}}}})
        self.session = f"/session/{made['sessionId']}"

    def is_ready(self):
        try:
            return self.tell("GET", "/status")["ready"]
        except OSError:
            return False

    def tell(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", DRIVER_PORT, timeout=60)
        with within(self.namespace):
            connection.connect()
        connection.request(method, path, body and json.dumps(body))
        answer = connection.getresponse()
        value = json.loads(answer.read())["value"]
        connection.close()
        assert answer.status == 200, value
        return value

    def open(self, url):
        """-> (status, headers, the text that the page shows)"""
        self.tell("POST", f"{self.session}/url", {"url": url})
        shown = self.tell("POST", f"{self.session}/execute/sync",
                          {"script": "return document.body.innerText", "args": []})
        log = self.tell("POST", f"{self.session}/se/log", {"type": "performance"})
        events = [json.loads(entry["message"])["message"] for entry in log]
        [response] = [event["params"]["response"] for event in events if event["method"] == "Network.responseReceived"
                      and event["params"]["response"]["url"] == url]
        return response["status"], response["headers"], shown.strip()

    def close(self):
        self.tell("DELETE", self.session)


class Chromium(NginxCase):
    def test_shows_the_refusal_waits_and_is_served(self):
        self.rules("action: reply", when='http.request.uri.path eq "/page"', rate="30/m")
        url = f"http://{self.ADDRESS}/page"
        browser = Browser(self.box, self.hosts.outside)
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
