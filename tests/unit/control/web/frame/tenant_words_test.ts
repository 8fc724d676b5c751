import assert from "node:assert/strict";
import test from "node:test";

import { jointIdOf, ownIdOf } from "../../../../../control/web/src/frame/tenant_words";

test("a tenant's people read and write the ids that they gave", () => {
  assert.equal(ownIdOf("acme", "acme:web"), "web");
  assert.equal(ownIdOf("acme", "acme:web.trial"), "web.trial");
  assert.equal(jointIdOf("acme", "web"), "acme:web");
  assert.equal(jointIdOf("acme", "acme:web"), "acme:web");
  assert.equal(jointIdOf("acme", ""), "");
});

test("what is not theirs keeps its whole name", () => {
  for (const id of ["other:web", "web", "acmex:web", ""]) {
    assert.equal(ownIdOf("acme", id), id);
  }
  for (const tenant of [null, ""]) {
    assert.equal(ownIdOf(tenant, "acme:web"), "acme:web");
    assert.equal(jointIdOf(tenant, "web"), "web");
  }
});
