import assert from "node:assert/strict";
import test from "node:test";

import { addressBytes } from "../../../../../../control/web/src/screens/key/address";
import { checksum, NO_WORDS, questionOf, type Question, type Words } from "../../../../../../control/web/src/screens/key/frame";
import { clientHello, dnsQuery } from "../../../../../../control/web/src/screens/key/payload";

function asked(words: Partial<Words>): Question {
  const question = questionOf({ ...NO_WORDS, src: "192.0.2.7", dst: "198.51.100.1", ...words });
  if (typeof question === "string") {
    throw new Error(question);
  }
  return question;
}

function bytesOf(hex: string): number[] {
  return (hex.match(/../g) ?? []).map((pair) => parseInt(pair, 16));
}

function read(hex: string): { isV4: boolean; proto: number; src: number[]; dst: number[]; segment: number[]; header: number[] } {
  const bytes = bytesOf(hex);
  const isTagged = bytes[12] === 0x81;
  const ip = bytes.slice(isTagged ? 18 : 14);
  const isV4 = ip[0] === 0x45;
  const [size, proto] = isV4 ? [20, ip[9]!] : [40, ip[6]!];
  assert.equal(isV4 ? (ip[2]! << 8) | ip[3]! : 40 + ((ip[4]! << 8) | ip[5]!), ip.length);
  return { isV4, proto, src: isV4 ? ip.slice(12, 16) : ip.slice(8, 24), dst: isV4 ? ip.slice(16, 20) : ip.slice(24, 40), segment: ip.slice(size), header: ip.slice(0, size) };
}

test("addresses are read as people write them", () => {
  const rows: [string, string | null][] = [
    ["192.0.2.7", "192.0.2.7"], ["256.0.0.1", null], ["1.2.3", null], ["", null], ["x", null], ["1:2:3:4:5:6:7:8", "1:2:3:4:5:6:7:8"], ["1:2:3:4:5:6:7", null],
    ["::", "0:0:0:0:0:0:0:0"], ["2001:db8::1", "2001:db8:0:0:0:0:0:1"], ["::ffff:192.0.2.7", "0:0:0:0:0:ffff:c000:207"], ["1::2::3", null], ["1:2:3:4:5:6:7:8::", null], ["fe80::1%eth0", null],
  ];
  for (const [text, shown] of rows) {
    const bytes = addressBytes(text);
    const groups = bytes?.length === 16 ? Array.from({ length: 8 }, (_, at) => ((bytes[2 * at]! << 8) | bytes[2 * at + 1]!).toString(16)).join(":") : bytes?.join(".");
    assert.equal(groups ?? null, shown, text);
  }
});

test("frames have the lengths and checksums that a sender gives them", () => {
  for (const ends of [{}, { src: "2001:db8::7", dst: "2001:db8::1" }, { vlan: "12" }]) {
    for (const kind of ["http", "tls", "dns", "tcp", "udp", "icmp"] as const) {
      const { packet, before } = asked({ kind, name: "shop.example", ...ends });
      for (const one of [packet, ...before]) {
        const { isV4, proto, src, dst, segment, header } = read(one.frame);
        const pseudo = proto === 1 ? [] : [...src, ...dst, 0, 0, segment.length >> 8, segment.length & 0xff, 0, 0, 0, proto];
        assert.equal(checksum([...pseudo, ...segment]), 0, `${kind} ${JSON.stringify(ends)}`);
        assert.equal(isV4 ? checksum(header) : 0, 0);
      }
      assert.equal(before.length, kind === "http" || kind === "tls" ? 3 : 0);
    }
  }
});

test("a request comes behind the handshake of its connection, both ways", () => {
  const { packet, before } = asked({ path: "/login?x=%3C", agent: "bot", headers: "X-Key: 7\n", host: "shop.example", dport: "8080" });
  const frames = [...before, packet].map((one) => read(one.frame));
  assert.deepEqual(frames.map(({ segment }) => segment[13]), [2, 18, 16, 24]);
  assert.deepEqual([...before, packet].map((one) => one.dir), ["in", "out", "in", "in"]);
  assert.deepEqual(frames.map(({ segment }) => (segment[2]! << 8) | segment[3]!), [8080, 49152, 8080, 8080]);
  const text = String.fromCharCode(...frames[3]!.segment.slice(20));
  assert.equal(text, "GET /login?x=%3C HTTP/1.1\r\nHost: shop.example\r\nUser-Agent: bot\r\nX-Key: 7\r\n\r\n");
});

test("names are where DNS and TLS have them", () => {
  assert.deepEqual(dnsQuery("a.bc", "AAAA")?.slice(12), [1, 97, 2, 98, 99, 0, 0, 28, 0, 1]);
  assert.deepEqual(dnsQuery(".", "255")?.slice(12), [0, 0, 255, 0, 1]);
  for (const name of ["", "a..b", `${"x".repeat(64)}.de`, "y.".repeat(130)]) {
    assert.equal(dnsQuery(name, "A"), null, name);
  }
  assert.equal(dnsQuery("a", "what"), null);
  const hello = clientHello("shop.example");
  assert.equal((hello[3]! << 8) | hello[4]!, hello.length - 5);
  assert.equal((hello[7]! << 8) | hello[8]!, hello.length - 9);
  assert.ok(String.fromCharCode(...hello).includes("\u0000\u000cshop.example"));
  assert.ok(!String.fromCharCode(...clientHello("")).includes("example"));
});

test("words that make no packet say what is wrong", () => {
  const rows: [Partial<Words>, string][] = [
    [{ src: "" }, "the sender is no address"], [{ dst: "x" }, "the receiver is no address"], [{ dst: "2001:db8::1" }, "different IP versions"], [{ dport: "99999" }, "a port is"],
    [{ method: "GET /x" }, "no blanks"], [{ host: "a\r\nX: y" }, "one line"], [{ kind: "dns", name: "" }, "a name of DNS"], [{ vlan: "4095" }, "a VLAN"], [{ path: `/${"x".repeat(9999)}` }, "bytes long"],
  ];
  for (const [words, what] of rows) {
    const question = questionOf({ ...NO_WORDS, src: "192.0.2.7", dst: "198.51.100.1", ...words });
    assert.ok(typeof question === "string" && question.includes(what), `${what}: ${JSON.stringify(question).slice(0, 80)}`);
  }
});
