"""A web site behind the box: nginx at the inside host, curl at the outside one."""
import threading
import time

from box import pinned
from commands import LabError, Process, call
import plan
import web_plan

READY_SECONDS = 10
CURL_SECONDS = 30  # for all that one curl is asked for
NGINX = """
daemon off;
master_process off;
error_log {folder}/nginx-error.log;
pid {folder}/nginx.pid;
events {{ worker_connections 256; }}
http {{
    log_format path '$remote_addr$uri';
    access_log {folder}/nginx-access.log path;
    client_body_temp_path {folder}/nginx-body;
    proxy_temp_path {folder}/nginx-proxy;
    fastcgi_temp_path {folder}/nginx-fastcgi;
    uwsgi_temp_path {folder}/nginx-uwsgi;
    scgi_temp_path {folder}/nginx-scgi;
    server {{
        listen {port};
        location / {{ return 200 "a page\\n"; }}
    }}
}}
"""


class Site:
    """nginx, until stop(). Its log has the address and the path of each request that came to it."""

    def __init__(self, network, folder):
        self.network, self.folder, self.url = network, folder, f"http://{plan.INSIDE_ADDRESS}"
        config = folder / "nginx.conf"
        config.write_text(NGINX.format(folder=folder, port=web_plan.PORT))
        self.process = Process(pinned([*network.prefix(network.inside), "nginx", "-p", folder, "-c",
                                       config, "-e", folder / "nginx-error.log"]), folder, "nginx")

    def wait(self):
        deadline = time.monotonic() + READY_SECONDS
        while True:
            try:
                call(*self.network.prefix(self.network.outside), "curl", "-sf", "-m", "1", "-o", "/dev/null",
                     f"{self.url}/ready")
                return
            except LabError:
                if not self.process.running():
                    self.process.complain("ended")
                if time.monotonic() > deadline:
                    raise LabError("no request through the box: the site cannot be reached") from None
                time.sleep(0.2)

    def logins_of(self, address):
        return (self.folder / "nginx-access.log").read_text().split().count(f"{address}/login")

    def stop(self):
        self.process.stop()


class Browser:
    """curl from one address: attempts to log in, a connection each, beside pages over one that stays."""

    def __init__(self, site, address, stop):
        self.site, self.seen, self.stop = site, web_plan.Client(address), stop

    def codes(self, *words):
        """The status of each answer; 000 where there is none."""
        network = self.site.network
        done = call(*network.prefix(network.outside), "timeout", str(CURL_SECONDS), "curl", "-s", "--interface", self.seen.address, "-o",
                    "/dev/null", "-w", "%{http_code}\n", *words, check=False)
        return [code for code in done.split() if code != "000"]

    def log_in(self):
        self.seen.login_attempts += 1
        self.codes("-m", str(web_plan.ATTEMPT_SECONDS), "-d", "user=x&password=y", f"{self.site.url}/login")
        self.seen.logins_passed = self.site.logins_of(self.seen.address)

    def read(self):
        pages = web_plan.SITE_PAGES
        self.seen.site_requests += pages
        self.seen.site_answered += len(self.codes(
            "-m", "20", *(word for page in range(pages) for word in
                          ([] if page == 0 else ["-o", "/dev/null"]) + [f"{self.site.url}/page{page}"])))

    def run(self, seconds):
        begin = time.monotonic()
        while not self.stop.is_set() and (time.monotonic() - begin < seconds or
                                          self.seen.login_attempts < web_plan.LEAST_ATTEMPTS):
            self.log_in()
            self.read()
        self.seen.seconds = time.monotonic() - begin


def browse(site, seconds, tell):
    """All clients at once; `tell` is called each second."""
    stop = threading.Event()
    browsers = [Browser(site, address, stop) for address in web_plan.CLIENTS]
    threads = [threading.Thread(target=browser.run, args=(seconds,)) for browser in browsers]
    begin = time.monotonic()
    for thread in threads:
        thread.start()
    second = 0
    try:
        while any(thread.is_alive() for thread in threads):
            threads[0].join(1) if threads[0].is_alive() else threads[-1].join(1)
            second += 1
            tell(second, [browser.seen for browser in browsers])
    finally:
        stop.set()
        for thread in threads:
            thread.join()
    return [browser.seen for browser in browsers], time.monotonic() - begin


def measure(box, network, folder, seconds, out):
    for client in web_plan.CLIENTS[1:]:
        call("ip", "-n", network.outside, "address", "add", f"{client}/24", "dev", "eth0")
    site = Site(network, folder)
    try:
        site.wait()
        names = ("second", "logins tried", "logins passed", "pages asked", "pages passed")
        print("  ".join(f"{name:>14}" for name in names), file=out, flush=True)

        def tell(second, clients):
            box.check_alive()
            cells = [second, *(sum(getattr(client, name) for client in clients) for name in (
                "login_attempts", "logins_passed", "site_requests", "site_answered"))]
            print("  ".join(f"{cell:>14,}" for cell in cells), file=out, flush=True)

        clients, lasted = browse(site, seconds, tell)
        site.stop()  # which writes its log to the end
        for client in clients:
            client.logins_passed = site.logins_of(client.address)
        return web_plan.Measured(clients, lasted)
    finally:
        site.stop()


def print_summary(measured, out):
    summary = measured.summary()
    print(f"""
logins    {summary['login_attempts']:>8,} tried from {summary['clients']} addresses, \
{summary['login_passed']:,} passed, {summary['login_refused']:,} refused; \
limit {web_plan.LOGINS_PER_MINUTE} a minute for each, {web_plan.LOGIN_BURST} at once
pages     {summary['site_requests']:>8,} asked for, {summary['site_passed']:,} passed
time      {summary['seconds']:>8,.1f} s""", file=out)
