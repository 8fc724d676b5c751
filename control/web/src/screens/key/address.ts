// Addresses as bytes. Pure.
function bytesOfV4(text: string): number[] | null {
  const parts = /^(\d{1,3})\.(\d{1,3})\.(\d{1,3})\.(\d{1,3})$/.exec(text)?.slice(1).map(Number);
  return parts !== undefined && parts.every((part) => part <= 255) ? parts : null;
}

function groupsOf(text: string): number[] | null {
  if (text === "") {
    return [];
  }
  const groups: number[] = [];
  const parts = text.split(":");
  for (const [at, part] of parts.entries()) {
    const inner = at === parts.length - 1 ? bytesOfV4(part) : null;
    if (inner !== null) {
      groups.push((inner[0]! << 8) | inner[1]!, (inner[2]! << 8) | inner[3]!);
    } else if (/^[0-9a-f]{1,4}$/i.test(part)) {
      groups.push(parseInt(part, 16));
    } else {
      return null;
    }
  }
  return groups;
}

function bytesOfV6(text: string): number[] | null {
  const halves = text.split("::");
  if (halves.length > 2 || !text.includes(":")) {
    return null;
  }
  const [head, tail] = [groupsOf(halves[0] ?? ""), halves.length === 2 ? groupsOf(halves[1] ?? "") : []];
  if (head === null || tail === null) {
    return null;
  }
  const missing = 8 - head.length - tail.length;
  if (halves.length === 2 ? missing < 1 : missing !== 0) {
    return null;
  }
  return [...head, ...new Array<number>(missing).fill(0), ...tail].flatMap((group) => [group >> 8, group & 0xff]);
}

/** 4 or 16 bytes; null: it is no address. */
export function addressBytes(text: string): number[] | null {
  return bytesOfV4(text.trim()) ?? bytesOfV6(text.trim());
}
