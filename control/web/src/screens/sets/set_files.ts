import { listOf, membersOf, textOf } from "../../parts/members";
import type { Call } from "../../transport/send";

// The files of a rule set, and how they are handed over. Pure.
export interface SetFile {
  name: string;
  directory: string;
  text: string;
}
export interface SetFiles {
  generation: string;
  etag: string;
  files: SetFile[];
}

export function setFilesOf(body: unknown): SetFiles | null {
  const answer = membersOf(body);
  const [generation, etag] = [textOf(answer["generation"]), textOf(answer["etag"])];
  const files = listOf(answer["files"])
    .map(membersOf)
    .map((row) => ({ name: textOf(row["name"]) ?? "", directory: textOf(row["directory"]) ?? "", text: textOf(row["text"]) ?? "" }));
  return generation === null || etag === null || files.length === 0 ? null : { generation, etag, files };
}

/** What is changed here, over another set: a file that is not changed here is as that set has it. */
export function textsOver(base: SetFiles, mine: { base: SetFiles; texts: readonly string[] } | null): string[] {
  return base.files.map((file) => {
    const at = mine?.base.files.findIndex((old) => old.name === file.name) ?? -1;
    const text = mine?.texts[at];
    return text === undefined || text === mine?.base.files[at]?.text ? file.text : text;
  });
}

export function sameTexts(one: readonly SetFile[], other: readonly SetFile[]): boolean {
  return one.length === other.length && one.every(({ name, text }, at) => name === other[at]?.name && text === other[at]?.text);
}

/** The folder where names of files begin: /etc/sluice of rules.d/a.yaml in /etc/sluice/rules.d. */
export function rootOf(file: SetFile): string {
  const inner = file.name.startsWith("/") ? "" : file.name.split("/").slice(0, -1).join("/");
  return inner !== "" && file.directory.endsWith(`/${inner}`) ? file.directory.slice(0, -inner.length - 1) || "/" : file.directory;
}

/** The query and the body of a call that hands a whole set over. */
export function handedOver(files: readonly SetFile[], more: Record<string, string> = {}): { query: string; call: Call } {
  const [first] = files;
  const words = new URLSearchParams(more);
  if (first === undefined) {
    return { query: words.toString(), call: {} };
  }
  const directory = files.length === 1 ? first.directory : rootOf(first); // lists begin in the folder of a file that is alone
  if (directory.startsWith("/")) {
    words.set("directory", directory);
  }
  if (files.length === 1) {
    words.set("file", first.name);
    return { query: words.toString(), call: { rules: first.text } };
  }
  const form = new FormData();
  for (const file of files) {
    form.append("rules", new Blob([file.text], { type: "application/yaml" }), file.name);
  }
  return { query: words.toString(), call: { form } };
}

/** Where a limit has its name under `limits:` of the files: which file, and its line from 1 on; null: nowhere. */
export function placeOfLimit(files: readonly { text: string }[], name: string): { at: number; line: number } | null {
  for (const [at, { text }] of files.entries()) {
    let isInLimits = false;
    for (const [number, line] of text.split("\n").entries()) {
      isInLimits = /^[^\s#]/.test(line) ? /^limits\s*:/.test(line) : isInLimits;
      const found = /^\s+(?:"([^"]+)"|'([^']+)'|([^\s"'#:][^:]*?))\s*:/.exec(line);
      if (isInLimits && found !== null && (found[1] ?? found[2] ?? found[3]) === name) {
        return { at, line: number + 1 };
      }
    }
  }
  return null;
}

/** Lines of a file, from 1 on. */
export function linesOf(text: string, first: number, last: number): string {
  return text.split("\n").slice(first - 1, last).join("\n");
}

/** A file with other lines of one rule: `first` to `last`, from 1 on, indented as they were. */
export function withLines(text: string, first: number, last: number, rule: string): string {
  const lines = text.split("\n");
  const lead = /^ */.exec(lines[first - 1] ?? "")?.[0] ?? "";
  const isItem = /^\s*-\s/.test(rule);
  const next = rule
    .replace(/\n+$/, "")
    .split("\n")
    .map((line, at) => (line.trim() === "" ? line : isItem ? lead + line : `${lead}${at === 0 ? "- " : "  "}${line}`));
  return [...lines.slice(0, first - 1), ...next, ...lines.slice(last)].join("\n");
}
