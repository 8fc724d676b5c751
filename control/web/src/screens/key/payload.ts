// Payloads of a described packet: an HTTP request, a DNS question, the ClientHello of a TLS connection. Pure.
const text = new TextEncoder();

export function two(value: number): number[] {
  return [(value >> 8) & 0xff, value & 0xff];
}

function sized(bytes: number[]): number[] {
  return [...two(bytes.length), ...bytes];
}

export function httpRequest(method: string, path: string, host: string, agent: string, more: string): number[] {
  const lines = [`${method} ${path === "" ? "/" : path} HTTP/1.1`, `Host: ${host}`];
  if (agent !== "") {
    lines.push(`User-Agent: ${agent}`);
  }
  lines.push(...more.split("\n").map((line) => line.trim()).filter((line) => line !== ""));
  return [...text.encode(`${lines.join("\r\n")}\r\n\r\n`)];
}

export const QUERY_TYPES: Record<string, number> = { A: 1, NS: 2, CNAME: 5, MX: 15, TXT: 16, AAAA: 28, SRV: 33, HTTPS: 65, ANY: 255 };

/** null: a name of DNS has labels of 1 to 63 bytes, 253 in all. */
export function dnsQuery(name: string, type: string): number[] | null {
  const labels = name.replace(/\.$/, "").split(".").map((label) => [...text.encode(label)]);
  const isName = name === "." || (labels.every((label) => label.length >= 1 && label.length <= 63) && name.length <= 253);
  const code = QUERY_TYPES[type] ?? Number(type);
  if (!isName || !Number.isInteger(code) || code < 1 || code > 0xffff) {
    return null;
  }
  const coded = name === "." ? [] : labels.flatMap((label) => [label.length, ...label]);
  return [...two(1), ...two(0x0100), ...two(1), ...two(0), ...two(0), ...two(0), ...coded, 0, ...two(code), ...two(1)];
}

/** The least that a server of TLS 1.2 or 1.3 takes for one: a name, a cipher, versions. */
export function clientHello(name: string): number[] {
  const sni = [...text.encode(name)];
  const extensions = [
    ...(name === "" ? [] : [...two(0), ...sized(sized([0, ...sized(sni)]))]),
    ...two(43), ...sized([4, ...two(0x0304), ...two(0x0303)]),
    ...two(10), ...sized(sized(two(29))),
    ...two(13), ...sized(sized([...two(0x0403), ...two(0x0804)])),
  ];
  const hello = [...two(0x0303), ...new Array<number>(32).fill(0x5a), 0, ...sized([...two(0x1301), ...two(0xc02f)]), 1, 0, ...sized(extensions)];
  const message = [1, 0, ...sized(hello)];
  return [0x16, ...two(0x0301), ...sized(message)];
}
