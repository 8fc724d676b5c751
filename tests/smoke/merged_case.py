"""Workers that share a limit: what the tests of amounts between them begin with and expect."""
import time

import workers_case
from programs import wait_until


class MergedCase(workers_case.WorkersCase):
    def merged(self):
        return self.box.stats()["rules"][0]["merged"]

    def ledgers(self, event):
        return [worker["ledger"][event] for worker in self.box.workers()]

    def ledger(self, event):
        return sum(self.ledgers(event))

    def apply_merged(self, rules):
        self.apply(rules)
        self.assertEqual(self.scopes(), {"hold": "merged"})
        self.promised = self.merged()["promised_overshoot"]

    def flood_until_refused(self, flood, in_a_row=None):
        """What came through by host, once every worker has judged so many frames since the last one that was admitted,
        however long it was kept from its processor; as many as there are flows, if nothing else is said."""
        in_a_row = in_a_row or flood.flow.sources * flood.flow.hosts
        admitted, since = None, []
        flood.go_on()

        def all_are_refused():
            nonlocal admitted, since
            time.sleep(0.2)  # many frames come meanwhile, so there is no use in asking more often
            judged = [worker["packets"] for worker in self.box.workers()]
            now = self.box.stats()["rules"][0]["admitted"]  # after the packets: what is admitted later begins anew
            if now != admitted:
                admitted, since = now, [worker["packets"] for worker in self.box.workers()]
            return min(map(int.__sub__, judged, since)) >= in_a_row
        wait_until("all to be refused", all_are_refused, 300)
        return flood.came_by_host()

    def expect_each_amount_once(self):
        time.sleep(1.2)  # so that what may wait has been told as well
        wait_until("all amounts to be with their owners", lambda: self.ledger("sent") == self.ledger("applied"))
        for event in ("returned", "no_place", "no_record", "dropped", "expired"):
            self.assertEqual(self.ledger(event), 0, event)

    def expect_the_promise(self, came, least, burst):
        for host, count in came.items():
            self.assertLessEqual(count, burst + self.promised, f"host {host}")
            self.assertGreaterEqual(count, least, f"host {host}: what was used has been counted twice")
        merged = self.merged()
        self.assertLessEqual(merged["measured_overshoot"], merged["promised_overshoot"])
        print(f"of {burst} and {self.promised} promised beyond: {min(came.values())} to {max(came.values())} "
              f"at {len(came)} hosts", flush=True)
