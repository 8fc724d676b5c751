import assert from "node:assert/strict";
import test from "node:test";

import { tenantProblemsOf, tenantRulesOf } from "../../../../../../control/web/src/screens/builder/tenant_text";

test("the rules of a tenant, with what is on trial and what it may have", () => {
  const rules = tenantRulesOf({ text: "version: 1\n", etag: "00ab", networks: ["198.51.100.0/24", 7], most_rules: 20, most_bytes: 65536,
    table_share: "5%", compile_ms: 500, unconfirmed: { seconds_left: 41.5 }, problem: null });
  assert.deepEqual(rules, { text: "version: 1\n", etag: "00ab", networks: ["198.51.100.0/24"], trialLeft: 41.5, problem: null,
    bounds: "at most 20 rules in 65536 bytes, 5% of the tables, 500 ms to compile" });
  assert.equal(tenantRulesOf({ text: "", etag: "0", unconfirmed: null })?.trialLeft, null);
});

test("what is no such answer shows nothing", () => {
  for (const body of [null, [], {}, { text: "x" }, { etag: "0" }, { text: 1, etag: "0" }]) {
    assert.equal(tenantRulesOf(body), null);
  }
});

test("problems and warnings stand at their lines", () => {
  const found = tenantProblemsOf({ problems: [{ severity: "error", line: 3, text: "no" }], warnings: [{ line: 2, text: "hm" }] });
  assert.deepEqual(found.map(({ severity, line, text }) => [severity, line, text]), [["error", 3, "no"], ["warning", 2, "hm"]]);
  assert.deepEqual(tenantProblemsOf(null), []);
});
