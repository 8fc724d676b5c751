// A capture in the form of pcapng (RFC draft ietf-opsawg-pcapng): one section, one interface of Ethernet with times in
// nanoseconds, and for each packet its first bytes, its length on the wire and a comment. Little-endian, padded to 32 bits.
const SECTION = 0x0a0d0d0a;
const INTERFACE = 1;
const PACKET = 6;
const ORDER = 0x1a2b3c4d;
const ETHERNET = 1;
const COMMENT = 1;
const APPLICATION = 4;
const NAME = 2;
const RESOLUTION = 9;
const MOST_COMMENT = 60_000;

export interface Captured {
  time: string; // ISO, with up to nine digits behind the second
  frame: string; // first bytes, in hex
  size: number; // on the wire
  comment: string;
}

function padded(size: number): number {
  return (size + 3) & ~3;
}

interface Option {
  code: number;
  value: Uint8Array;
}

function optionsOf(options: readonly Option[]): Uint8Array {
  const size = options.reduce((sum, { value }) => sum + 4 + padded(value.length), 4);
  const bytes = new Uint8Array(size);
  const view = new DataView(bytes.buffer);
  let at = 0;
  for (const { code, value } of options) {
    view.setUint16(at, code, true);
    view.setUint16(at + 2, value.length, true);
    bytes.set(value, at + 4);
    at += 4 + padded(value.length);
  }
  return bytes; // the last option, of zeros, ends them
}

function block(type: number, fixed: Uint8Array, options: readonly Option[]): Uint8Array {
  const tail = optionsOf(options);
  const bytes = new Uint8Array(12 + padded(fixed.length) + tail.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, type, true);
  view.setUint32(4, bytes.length, true);
  bytes.set(fixed, 8);
  bytes.set(tail, 8 + padded(fixed.length));
  view.setUint32(bytes.length - 4, bytes.length, true);
  return bytes;
}

function textOf(text: string): Uint8Array {
  const bytes = new TextEncoder().encode(text);
  let size = Math.min(bytes.length, MOST_COMMENT);
  while (size > 0 && size < bytes.length && ((bytes[size] ?? 0) & 0xc0) === 0x80) {
    size -= 1; // no letter is cut in two
  }
  return bytes.subarray(0, size);
}

function head(application: string): Uint8Array {
  const section = new Uint8Array(16);
  const view = new DataView(section.buffer);
  view.setUint32(0, ORDER, true);
  view.setUint16(4, 1, true); // version 1.0
  view.setBigInt64(8, -1n, true); // as long as it is
  return block(SECTION, section, [{ code: APPLICATION, value: textOf(application) }]);
}

function interfaceOf(name: string): Uint8Array {
  const fixed = new Uint8Array(8);
  new DataView(fixed.buffer).setUint16(0, ETHERNET, true);
  return block(INTERFACE, fixed, [{ code: NAME, value: textOf(name) }, { code: RESOLUTION, value: Uint8Array.of(9) }]);
}

/** Nanoseconds since 1970; 0n: it is no instant. */
export function nanosecondsOf(time: string): bigint {
  const found = /^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)(?:\.(\d{1,9})\d*)?Z$/.exec(time);
  const second = Date.parse(`${found?.[1] ?? ""}Z`);
  return found === null || Number.isNaN(second) ? 0n : BigInt(second) * 1_000_000n + BigInt((found[2] ?? "").padEnd(9, "0"));
}

export function bytesOf(hex: string): Uint8Array {
  const clean = /^(?:[0-9a-fA-F]{2})*/.exec(hex)?.[0] ?? "";
  return Uint8Array.from({ length: clean.length / 2 }, (_, at) => parseInt(clean.slice(2 * at, 2 * at + 2), 16));
}

function packetOf(packet: Captured): Uint8Array {
  const frame = bytesOf(packet.frame);
  const at = nanosecondsOf(packet.time);
  const fixed = new Uint8Array(20 + frame.length);
  const view = new DataView(fixed.buffer);
  view.setUint32(4, Number(at >> 32n), true);
  view.setUint32(8, Number(at & 0xffff_ffffn), true);
  view.setUint32(12, frame.length, true);
  view.setUint32(16, Math.max(packet.size, frame.length), true);
  fixed.set(frame, 20);
  return block(PACKET, fixed, [{ code: COMMENT, value: textOf(packet.comment) }]);
}

/** The file, piece by piece. */
export function pcapngOf(packets: readonly Captured[], box: string): Uint8Array[] {
  return [head("Sluice dashboard"), interfaceOf(box), ...packets.map(packetOf)];
}
