const GONE_MS = 60_000; // by then the browser has read it

/** The name of a file: letters of others that may stand in none are left out. */
export function fileName(what: string, box: string, at: Date, ending: string): string {
  const name = box.replace(/[^a-zA-Z0-9-]+/g, "-").replace(/^-+/, "").slice(0, 40);
  const instant = at.toISOString().slice(0, 19).replace(/[-:]/g, "");
  return `sluice-${what}-${name === "" ? "box" : name}-${instant}Z.${ending}`;
}

/** Hands a file that was made in the page to the browser. */
export function download(name: string, type: string, parts: BlobPart[]): void {
  const address = URL.createObjectURL(new Blob(parts, { type }));
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(address), GONE_MS);
}
