import { addressBytes } from "./address";
import { clientHello, dnsQuery, httpRequest, two } from "./payload";

// A described packet as the frame that would come, and what its connection has sent before: the body of POST /v1/explain. Pure.
export const KINDS = ["http", "tls", "dns", "tcp", "udp", "icmp"] as const;
export type Kind = (typeof KINDS)[number];
export interface Words {
  kind: Kind;
  src: string;
  dst: string;
  sport: string;
  dport: string;
  dir: "in" | "out";
  method: string;
  path: string;
  host: string;
  agent: string;
  headers: string;
  name: string; // of TLS, of DNS
  type: string; // of DNS
  vlan: string;
}
export const NO_WORDS: Words = {
  kind: "http", src: "", dst: "", sport: "", dport: "", dir: "in", method: "GET", path: "/", host: "", agent: "", headers: "", name: "", type: "A", vlan: "",
};
export const PORTS: Record<Kind, number> = { http: 80, tls: 443, dns: 53, tcp: 80, udp: 53, icmp: 0 };
const SPORT = 49152; // RFC 6335, 6
const [SYN, ACK, PSH] = [2, 16, 8];
const TCP = 6;
const UDP = 17;

interface Ends {
  src: number[];
  dst: number[];
  sport: number;
  dport: number;
  vlan: number;
}
interface Segment {
  proto: number;
  flags: number;
  payload: number[];
}

function four(value: number): number[] {
  return [...two(value >>> 16), ...two(value & 0xffff)];
}

/** RFC 1071 */
export function checksum(bytes: readonly number[]): number {
  let sum = 0;
  for (let at = 0; at < bytes.length; at += 2) {
    sum += ((bytes[at] ?? 0) << 8) | (bytes[at + 1] ?? 0);
  }
  while (sum > 0xffff) {
    sum = (sum & 0xffff) + (sum >>> 16);
  }
  return ~sum & 0xffff;
}

function transport({ src, dst, sport, dport }: Ends, { proto, flags, payload }: Segment): number[] {
  const isV4 = src.length === 4;
  const isIcmp = proto !== TCP && proto !== UDP;
  const seq = (flags & SYN) !== 0 ? 0 : 1;
  const segment = isIcmp
    ? [isV4 ? 8 : 128, 0, 0, 0, ...two(1), ...two(1), ...payload]
    : proto === TCP
      ? [...two(sport), ...two(dport), ...four(seq), ...four((flags & ACK) !== 0 ? 1 : 0), 5 << 4, flags, ...two(64_240), 0, 0, 0, 0, ...payload]
      : [...two(sport), ...two(dport), ...two(8 + payload.length), 0, 0, ...payload];
  const pseudo = isIcmp && isV4 ? [] : [...src, ...dst, ...four(segment.length), ...four(proto)];
  const place = isIcmp ? 2 : proto === TCP ? 16 : 6;
  const sum = checksum([...pseudo, ...segment]);
  segment.splice(place, 2, ...two(proto === UDP && sum === 0 ? 0xffff : sum));
  return segment;
}

function frameOf(ends: Ends, segment: Segment): number[] {
  const isV4 = ends.src.length === 4;
  const inner = transport(ends, segment);
  const vlan = ends.vlan === 0 ? [] : [...two(0x8100), ...two(ends.vlan)];
  const ethernet = [2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, ...vlan, ...two(isV4 ? 0x0800 : 0x86dd)];
  if (!isV4) {
    return [...ethernet, ...four(0x60000000), ...two(inner.length), segment.proto, 64, ...ends.src, ...ends.dst, ...inner];
  }
  const head = [0x45, 0, ...two(20 + inner.length), 0, 0, 0, 0, 64, segment.proto, 0, 0, ...ends.src, ...ends.dst];
  head.splice(10, 2, ...two(checksum(head)));
  return [...ethernet, ...head, ...inner];
}

export function hex(bytes: readonly number[]): string {
  return bytes.map((byte) => byte.toString(16).padStart(2, "0")).join("");
}

function portOf(text: string, otherwise: number): number | null {
  const port = text.trim() === "" ? otherwise : Number(text);
  return Number.isInteger(port) && port >= 0 && port <= 0xffff ? port : null;
}

function hostOf(words: Words): string {
  return words.host.trim() !== "" ? words.host.trim() : words.dst.includes(":") ? `[${words.dst.trim()}]` : words.dst.trim();
}

function segmentOf(words: Words, isV4: boolean): Segment | string {
  switch (words.kind) {
    case "http": {
      if (/[\r\n]/.test(words.method + words.path + words.host + words.agent) || /\s/.test(words.method + words.path)) {
        return "a method and a path have no blanks, and each of the boxes is one line";
      }
      const payload = httpRequest(words.method.trim(), words.path, hostOf(words), words.agent, words.headers);
      return { proto: TCP, flags: PSH | ACK, payload };
    }
    case "tls":
      return { proto: TCP, flags: PSH | ACK, payload: clientHello(words.name.trim()) };
    case "dns": {
      const payload = dnsQuery(words.name.trim(), words.type.trim());
      return payload === null ? "a name of DNS has labels of 1 to 63 bytes, and a type is a name or a number" : { proto: UDP, flags: 0, payload };
    }
    case "tcp":
      return { proto: TCP, flags: SYN, payload: [] };
    case "udp":
      return { proto: UDP, flags: 0, payload: [] };
    case "icmp":
      return { proto: isV4 ? 1 : 58, flags: 0, payload: [] };
  }
}

function endsOf(words: Words): Ends | string {
  const [src, dst] = [addressBytes(words.src), addressBytes(words.dst)];
  const [sport, dport, vlan] = [portOf(words.sport, SPORT), portOf(words.dport, PORTS[words.kind]), portOf(words.vlan, 0)];
  if (src === null || dst === null) {
    return `the ${src === null ? "sender" : "receiver"} is no address`;
  }
  if (src.length !== dst.length) {
    return "sender and receiver are of different IP versions";
  }
  return sport === null || dport === null || vlan === null || vlan > 4094 ? "a port is a number up to 65535, a VLAN one up to 4094" : { src, dst, sport, dport, vlan };
}

const MOST = 9000; // bytes of a frame

export interface Question {
  packet: { frame: string; dir: "in" | "out" };
  before: { frame: string; dir: "in" | "out"; age_ns: number }[];
}

/** The question to sluiced; or what is wrong with the words. */
export function questionOf(words: Words): Question | string {
  const ends = endsOf(words);
  if (typeof ends === "string") {
    return ends;
  }
  const segment = segmentOf(words, ends.src.length === 4);
  if (typeof segment === "string") {
    return segment;
  }
  const frame = frameOf(ends, segment);
  if (frame.length > MOST) {
    return `the packet is ${frame.length} bytes long, and may be ${MOST}`;
  }
  const { dir } = words;
  const back = dir === "in" ? "out" : "in";
  const answer = { ...ends, src: ends.dst, dst: ends.src, sport: ends.dport, dport: ends.sport };
  const hand = (of: Ends, flags: number): string => hex(frameOf(of, { proto: TCP, flags, payload: [] }));
  const before: Question["before"] =
    segment.proto === TCP && segment.payload.length > 0
      ? [
          { frame: hand(ends, SYN), dir, age_ns: 3_000_000 },
          { frame: hand(answer, SYN | ACK), dir: back, age_ns: 2_000_000 },
          { frame: hand(ends, ACK), dir, age_ns: 1_000_000 },
        ]
      : [];
  return { packet: { frame: hex(frame), dir }, before };
}
