import assert from "node:assert/strict";
import test from "node:test";

import { hasSameGroups, withText } from "../../../../../../control/web/src/screens/builder/draft_text";
import { readRule, type ReadRule } from "../../../../../../control/web/src/screens/builder/rule_text";
import { coarserKey, groupsOf, isTiered, limitsOf, withoutTier, withTier } from "../../../../../../control/web/src/screens/builder/tiers";

function read(text: string): ReadRule {
  const rule = readRule(text);
  if (typeof rule === "string") {
    throw new Error(rule);
  }
  return rule;
}

const PLAIN = `# above
id: a
when: l4.dport eq 80   # of the shop
key: [ip.src]
limits:
  - algorithm: token_bucket
    rate: "300/m"
    burst: 50
  - named
on_exceed: {action: drop}
`;

test("a rule gets a coarser tier, and its own key and limits become the first one", () => {
  const tiered = read(withTier(read(PLAIN)) ?? "");
  assert.deepEqual(groupsOf(tiered), [["ip.src"], ["prefix(ip.src, 24|64)"]]);
  assert.deepEqual(limitsOf(tiered).map((places) => places.map(({ at }) => at)), [[0, 1], [2]]);
  assert.equal(
    tiered.text,
    `# above
id: a
when: l4.dport eq 80   # of the shop
tiers: [{key: [ip.src], limits: [{algorithm: token_bucket, rate: "300/m", burst: 50}, named]}, {key: ['prefix(ip.src, 24|64)'], limits: [{algorithm: token_bucket, rate: 3000/m, burst: 500}]}]
on_exceed: {action: drop}
`,
  );
});

test("comments and anchors of tiers stay: they are left to the text", () => {
  const limits = "limits: [{algorithm: token_bucket, rate: 5/s, burst: 5}]";
  const first = `id: a\ntiers:\n  # of clients\n  - key: [ip.src]\n    ${limits}\n  - key: []\n    ${limits}\n`;
  assert.equal(withTier(read(first)), null);
  assert.equal(withTier(read(first.replace("  # of clients\n", "").replace("  - key: []", "  # of all\n  - key: []"))), null);
  assert.ok(withoutTier(read(first), 1).includes("tiers:\n  # of clients\n  - key: [ip.src]"));
  assert.ok(withTier(read(first.replace("  # of clients\n", ""))) !== null);
  assert.equal(withTier(read(`id: a\nkey: [ip.src]\nlimits: &l [{algorithm: token_bucket, rate: 5/s, burst: 5}]\ncandidate: {limits: *l}\n`)), null);
});

test("a coarser key is a larger network, as long as there is one", () => {
  const keys: [string[] | null, string][] = [
    [["ip.src"], "['prefix(ip.src, 24|64)']"],
    [["prefix(ip.dst, 32|64)"], "['prefix(ip.dst, 24|64)']"],
    [["prefix(client.ip, 24|64)"], "['prefix(client.ip, 16|48)']"],
    [["prefix(ip.src, 16|48)"], "[]"],
    [["ip.src", "l4.dport"], "[]"],
    [["http.host"], "[]"],
    [[], "[]"],
    [null, "[]"],
  ];
  for (const [of, wanted] of keys) {
    assert.equal(coarserKey(of), wanted);
  }
});

test("a further tier is coarser still, and limits of each are changed where they stand", () => {
  const two = read(withTier(read(PLAIN)) ?? "");
  const three = read(withTier(two) ?? "");
  assert.deepEqual(groupsOf(three)[2], ["prefix(ip.src, 16|48)"]);
  const last = limitsOf(three)[2]?.[0];
  assert.equal(last?.at, 3);
  const changed = read(withText(three, [...(last?.path ?? []), "rate"], "9/s"));
  assert.ok(changed.text.includes("{key: ['prefix(ip.src, 16|48)'], limits: [{algorithm: token_bucket, rate: 9/s, burst: 500}]}"), changed.text);
  assert.equal(changed.text.replace("9/s", "3000/m"), three.text);
});

test("the tier that is left becomes the rule's own key and limits", () => {
  const two = read(withTier(read(PLAIN)) ?? "");
  for (const [out, key, count] of [[1, "ip.src", 2], [0, "prefix(ip.src, 24|64)", 1]] as const) {
    const one = read(withoutTier(two, out));
    assert.equal(isTiered(one), false);
    assert.deepEqual(groupsOf(one), [[key]]);
    assert.equal(limitsOf(one)[0]?.length, count);
  }
});

test("tiers in the block style lose one line by line, and keep their comments", () => {
  const block = read(`id: a
tiers:
  # addresses
  - key: [ip.src]
    limits: [{rate: 1/s, burst: 1}]
  - key: ['prefix(ip.src, 24|64)']   # their networks
    limits: [{rate: 9/s, burst: 9}]
  - key: []
    limits: [{rate: 90/s, burst: 90}]
`);
  assert.equal(withoutTier(block, 2), block.text.slice(0, block.text.indexOf("  - key: []")));
  assert.equal(withTier(block), null, "a comment would be lost");
});

test("what one line cannot say is left to the text", () => {
  for (const text of [PLAIN.replace("[ip.src]", "[ip.src]   # an address"), PLAIN.replace("- named", "- *named").replace("# above", "x: &named y"), "id: a\nkey: [ip.src]\n"]) {
    assert.equal(withTier(read(text)), null, text);
  }
});

test("groups are others where a tier's key is", () => {
  const two = read(withTier(read(PLAIN)) ?? "");
  assert.equal(hasSameGroups(PLAIN, two), false);
  assert.equal(hasSameGroups(two.text.replace("rate: 3000/m", "rate: 1/m"), two), true);
  assert.equal(hasSameGroups(two.text.replace("24|64", "16|64"), two), false);
});
