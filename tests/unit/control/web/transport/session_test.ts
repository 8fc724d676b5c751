import assert from "node:assert/strict";
import test from "node:test";

import type { Call, Reply } from "../../../../../control/web/src/transport/send";
import { Kept } from "../../../../../control/web/src/transport/kept";
import { secretIn, Session } from "../../../../../control/web/src/transport/session";

const WHO = { user: "ada", role: "admin", via: "session", box: "edge", verbs: {} };

class Store {
  values = new Map<string, string>();
  getItem = (name: string): string | null => this.values.get(name) ?? null;
  setItem = (name: string, value: string): void => void this.values.set(name, value);
  removeItem = (name: string): void => void this.values.delete(name);
}

function sessionWith(replies: Partial<Reply>[]): [Session, Store, [string, Call][]] {
  const store = new Store();
  const calls: [string, Call][] = [];
  const send = async (path: string, call: Call): Promise<Reply> => {
    calls.push([path, call]);
    return { status: 0, body: null, againIn: null, ...replies.shift() };
  };
  return [new Session(send, store), store, calls];
}

test("a secret is in a fragment of its own alone", () => {
  assert.equal(secretIn("#secret=a%2Bb"), "a+b");
  assert.equal(secretIn("#secret=%zz"), "%zz");
  assert.deepEqual([secretIn(""), secretIn("#secret="), secretIn("#/rules?filter=#secret=x")], [null, null, null]);
});

test("a secret becomes a session, which is kept and shown", async () => {
  const [session, store, calls] = sessionWith([{ status: 201, body: { session: "T" } }, { status: 200, body: WHO }]);
  await session.begin("S");
  assert.deepEqual(calls[0], ["/v1/session", { method: "POST", body: { secret: "S" } }]);
  assert.deepEqual(calls[1], ["/v1/session", { token: "T" }]);
  assert.deepEqual(session.state.value, { kind: "open", who: WHO });
  assert.equal(store.values.size, 1);
});

test("who has authority without a token is let in without one", async () => {
  const [session, store] = sessionWith([{ status: 200, body: { ...WHO, via: "unix" } }]);
  await session.begin(null);
  assert.deepEqual([session.state.value.kind, store.values.size], ["open", 0]);
});

test("a secret that is used up locks, with the reason, and keeps the session there was", async () => {
  const [session, store] = sessionWith([{ status: 401, body: { title: "no session", detail: "used up" } }]);
  store.setItem("sluice.session", "old");
  await session.begin("S");
  assert.deepEqual(session.state.value, { kind: "locked", why: "no session: used up", isTried: false });
  assert.equal(session.token(), "old");
});

test("a token that is over is forgotten; one that nobody could be asked about is not", async () => {
  const [over, gone] = sessionWith([{ status: 401 }]);
  gone.setItem("sluice.session", "T");
  await over.begin(null);
  assert.deepEqual([over.state.value.kind, over.token()], ["locked", null]);
  const [away, kept] = sessionWith([{ status: 0 }]);
  kept.setItem("sluice.session", "T");
  await away.begin(null);
  assert.deepEqual([away.state.value, away.token()], [{ kind: "locked", why: "sluiced does not answer", isTried: true }, "T"]);
});

test("leaving ends the session on both sides", async () => {
  const [session, store, calls] = sessionWith([{ status: 204 }]);
  store.setItem("sluice.session", "T");
  await session.leave();
  assert.deepEqual([calls[0], session.token()], [["/v1/session", { method: "DELETE", token: "T" }], null]);
});

test("a link that was used ends no session there is", async () => {
  const [session, , calls] = sessionWith([{ status: 200, body: WHO }, { status: 401 }, { status: 201, body: { session: "N" } }, { status: 200, body: WHO }]);
  await session.begin(null);
  await session.takeLink("used");
  assert.equal(session.state.value.kind, "open");
  await session.takeLink("good");
  assert.deepEqual([session.token(), calls.length], ["N", 4]);
});

test("a role that has changed is asked for again, and an answer that fails changes nothing", async () => {
  const [session] = sessionWith([{ status: 200, body: WHO }, { status: 200, body: { ...WHO, role: "view" } }, { status: 503 }]);
  await session.begin(null);
  await session.askAgain();
  assert.deepEqual(session.state.value, { kind: "open", who: { ...WHO, role: "view" } });
  await session.askAgain();
  assert.equal(session.state.value.kind, "open");
});

test("with storage that is switched off a session is kept by the page alone", async () => {
  const kept = new Kept(() => {
    throw new Error("SecurityError");
  });
  kept.setItem("a", "1");
  assert.deepEqual([kept.getItem("a"), kept.getItem("b")], ["1", null]);
  kept.removeItem("a");
  assert.equal(kept.getItem("a"), null);
});
