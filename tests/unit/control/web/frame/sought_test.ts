import assert from "node:assert/strict";
import test from "node:test";

import { isAddress } from "../../../../../control/web/src/frame/sought";

test("addresses, networks and ranges are known by their form; rules and hosts are not", () => {
  for (const text of ["192.0.2.1", "10.0.0.0/8", "10.0.0.5-10.0.0.20", "2001:db8::1", "2001:db8::/32", "::", "fe80::1%eth0", "::ffff:192.0.2.1"]) {
    assert.equal(isAddress(text), true, text);
  }
  for (const text of ["", "00012", "login", "bypass.1", "www.example.net", "example.net:80", "a:b", "1.2.3", "dns-v2.1"]) {
    assert.equal(isAddress(text), false, text);
  }
});
