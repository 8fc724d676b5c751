"""Chromium with a profile of its own, told what to do through chromedriver (the W3C's WebDriver)."""
import base64
import contextlib
import http.client
import json
import socket

from programs import wait_until

ARGUMENTS = ("--headless=new", "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run",
             "--disable-background-networking", "--disable-component-update", "--disable-sync")
ELEMENT = "element-6066-11e4-a52e-4f735466cecf"  # the standard's name for the reference of one
KEYS = {"Escape": "\ue00c", "Enter": "\ue007", "Tab": "\ue004"}


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Browser:
    """`start(command, log)` begins a process; `within`: a context in which its port is reached."""

    def __init__(self, start, folder, wrapped=list, within=contextlib.nullcontext):
        self.within, self.port = within, free_port()
        start(wrapped(["chromedriver", f"--port={self.port}"]), "chromedriver.log")
        wait_until("chromedriver to listen", self.is_ready)
        made = self.tell("POST", "/session", {"capabilities": {"alwaysMatch": {
            "goog:chromeOptions": {"binary": "/usr/bin/chromium", "args": [*ARGUMENTS, f"--user-data-dir={folder / 'profile'}"]},
            "goog:loggingPrefs": {"performance": "ALL", "browser": "ALL"}}}})
        self.session = f"/session/{made['sessionId']}"

    def is_ready(self):
        try:
            return self.tell("GET", "/status")["ready"]
        except OSError:
            return False

    def tell(self, method, path, body=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=60)
        with self.within():
            connection.connect()
        connection.request(method, path, body if body is None else json.dumps(body))
        answer = connection.getresponse()
        value = json.loads(answer.read())["value"]
        connection.close()
        assert answer.status == 200, value
        return value

    def devtools(self, command, **parameters):
        return self.tell("POST", f"{self.session}/goog/cdp/execute", {"cmd": command, "params": parameters})

    def load(self, url):
        self.tell("POST", f"{self.session}/url", {"url": url})

    def open(self, url):
        """-> (status, headers, the text that the page shows)"""
        self.load(url)
        shown = self.run("return document.body.innerText")
        [response] = [event["params"]["response"] for event in self.events() if event["method"] == "Network.responseReceived"
                      and event["params"]["response"]["url"] == url]
        return response["status"], response["headers"], shown.strip()

    def events(self):
        """What DevTools tell of the network since the last call."""
        log = self.tell("POST", f"{self.session}/se/log", {"type": "performance"})
        return [json.loads(entry["message"])["message"] for entry in log]

    def console(self):
        """Messages of the page's console since the last call."""
        return self.tell("POST", f"{self.session}/se/log", {"type": "browser"})

    def run(self, script, *arguments):
        return self.tell("POST", f"{self.session}/execute/sync", {"script": script, "args": list(arguments)})

    def run_later(self, script, *arguments):
        """Of a script that calls its last argument when it is done."""
        return self.tell("POST", f"{self.session}/execute/async", {"script": script, "args": list(arguments)})

    def before_each_page(self, script):
        self.devtools("Page.addScriptToEvaluateOnNewDocument", source=script)

    def find(self, selector):
        return self.tell("POST", f"{self.session}/element", {"using": "css selector", "value": selector})[ELEMENT]

    def click(self, selector):
        self.tell("POST", f"{self.session}/element/{self.find(selector)}/click", {})

    def type(self, selector, text):
        self.tell("POST", f"{self.session}/element/{self.find(selector)}/value", {"text": text})

    def press(self, *keys):
        """One after another, to whatever has the focus."""
        actions = [{"type": kind, "value": KEYS.get(key, key)} for key in keys for kind in ("keyDown", "keyUp")]
        self.tell("POST", f"{self.session}/actions", {"actions": [{"type": "key", "id": "keyboard", "actions": actions}]})

    def text(self, selector="body"):
        return self.run("return document.querySelector(arguments[0])?.innerText ?? ''", selector)

    def wait_for(self, what, script, *arguments):
        return wait_until(what, lambda: self.run(script, *arguments))

    def show_as(self, width, height, dark=False):
        self.devtools("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=False)
        self.devtools("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def screenshot(self, path):
        path.write_bytes(base64.b64decode(self.tell("GET", f"{self.session}/screenshot")))

    def pixels(self, selector):
        """How many points of a canvas are painted, by getImageData."""
        return self.run("const c = document.querySelector(arguments[0]);"
                        "const d = c.getContext('2d').getImageData(0, 0, c.width, c.height).data;"
                        "let n = 0; for (let i = 3; i < d.length; i += 4) { if (d[i] !== 0) n += 1; } return n", selector)

    def close(self):
        self.tell("DELETE", self.session)
