// A key, or what keys share, as a condition of a rule; null: it cannot stand in one as it is.
const TEXT = /^(?:http\.|tls\.(?:sni|alpn|ja4)$|quic\.(?:sni|packet_type)$|dns\.qname$|proto\.|port$|dir$|ip\.frag$|ip\.(?:src|dst)\.country$)/;
const NETWORK = /^(?:ip|outer\.ip|client)\.(?:src|dst|ip)$/;
const ADDRESS = /^[0-9a-fA-F:.]+(?:\/\d{1,3})?$/;
const MAC = /^[0-9a-f]{2}(?::[0-9a-f]{2}){5}$/;
const NUMBER = /^\d+$/;
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/; // no quote, no backslash, nothing that is not to be seen

/** `prefix(ip.src, 24|64)`, `ip.src/16`: the field that a part of a key, or something shared, is of. */
function fieldOf(part: string): string | null {
  const field = /^prefix\(\s*([a-z0-9_.]+)\s*,[^)]*\)$/.exec(part)?.[1] ?? part.replace(/\/\d+$/, "");
  return /^[a-z0-9_.]+(?:\["[a-z0-9-]+"\])?$/.test(field) ? field : null;
}

export function comparison(part: string, value: string): string | null {
  const field = fieldOf(part.trim());
  if (field === null) {
    return null;
  }
  if (NETWORK.test(field)) {
    return ADDRESS.test(value) ? `${field} in {${value}}` : null;
  }
  if (TEXT.test(field)) {
    return PLAIN.test(value) ? `${field} eq "${value}"` : null;
  }
  return NUMBER.test(value) || MAC.test(value) ? `${field} eq ${value}` : null;
}

// `prefix(ip.src, 24|64)|http.host`: bars within parentheses part nothing.
function partsOf(shape: string): string[] {
  const parts: string[] = [""];
  let depth = 0;
  for (const letter of shape) {
    depth += letter === "(" ? 1 : letter === ")" ? -1 : 0;
    if (letter === "|" && depth === 0) {
      parts.push("");
    } else {
      parts[parts.length - 1] += letter;
    }
  }
  return parts;
}

export function conditionOfKey(shape: string, key: string): string | null {
  const [fields, values] = [partsOf(shape), key.split("|")];
  if (fields.length !== values.length || shape === "") {
    return null;
  }
  const found = fields.map((field, at) => comparison(field, values[at] ?? ""));
  return found.includes(null) ? null : found.join(" and ");
}
