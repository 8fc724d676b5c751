// What somebody has typed into the search box: an address, network or range by its form; whether anything else is a rule or a
// host is known to sluiced.
const QUAD = /^\d{1,3}(\.\d{1,3}){3}([/-].*)?$/;
const COLONS = /^[0-9a-f:.]*:[0-9a-f:.]*:[0-9a-f:.]*(%[^/]*)?([/-].*)?$/i;

export function isAddress(text: string): boolean {
  return QUAD.test(text) || COLONS.test(text);
}
