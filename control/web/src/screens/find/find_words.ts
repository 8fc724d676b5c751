import { known } from "../../text/known";
import { whole } from "../../text/number";
import type { EarlyEntry, Finding, FindAnswer } from "./find_answer";

// Findings in words; every text of others in them is shown by `Text`.
export const WHATS: Record<string, string> = {
  condition: "Condition",
  key: "Bucket",
  ban: "Ban",
  override: "Override",
  counts: "Would count",
};

type Members = Record<string, unknown>;

function text(row: Members, member: string): string {
  const value = row[member];
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}

function rows(row: Members, member: string): Members[] {
  const value = row[member];
  return Array.isArray(value) ? value.filter((one): one is Members => typeof one === "object" && one !== null) : [];
}

/** " until 2026-…, because: …" */
function endWords(row: Members): string {
  const [until, reason] = [text(row, "until"), text(row, "reason")];
  return (until === "" ? "" : ` until ${until}`) + (reason === "" ? "" : `, because: ${reason}`);
}

function conditionWords(row: Members): string {
  const others = Number(row["others"] ?? 0);
  const entry =
    text(row, "list") === ""
      ? ""
      : `, in $${text(row, "list")} by ${text(row, "entry")} (line ${text(row, "line")})${others > 0 ? ` and ${whole(others)} more` : ""}`;
  return `its condition ${row["except"] === true ? "excepts" : "names"} it as ${text(row, "field")}${entry}: ${text(row, "action")}`;
}

function waitWords(ns: unknown): string {
  if (ns === null || ns === undefined) {
    return "never admitted";
  }
  return Number(ns) === 0 ? "" : `, the next in ${Number((Number(ns) / 1e9).toPrecision(3))} s`;
}

/** What a limit has left of the key: of all workers, or of each that has a bucket of it. */
function limitWords(limit: Members): string {
  const shared = limit["shared"] as Members | undefined;
  const buckets = shared !== undefined ? [shared] : rows(limit, "workers");
  const left = buckets.map((bucket) => {
    const worker = bucket["lcore"] === undefined ? "" : ` on core ${text(bucket, "lcore")}`;
    return `${text(bucket, "remaining")} of ${text(bucket, "most")} left${worker}${waitWords(bucket["wait_ns"])}`;
  });
  return `limit ${text(limit, "name")} (${text(limit, "text")}): ${left.length === 0 ? "no bucket" : left.join("; ")}`;
}

function keyWords(row: Members): string {
  const fate = row["banned"] === true ? "banned" : row["exempt"] === true ? "exempt" : "counted";
  const set = rows(row, "set").map((one) => `set: ${text(one, "set")}${endWords(one)}`);
  const networks = rows(row, "networks").map((one) => `${text(one, "key")} is banned by ${text(one, "source")}${endWords(one)}`);
  return [`${text(row, "key")}: ${fate}`, ...set, ...networks, ...rows(row, "limits").map(limitWords)].join("; ");
}

function overrideWords(row: Members): string {
  const says = row["says"] === "exempt" ? "is exempt" : "has other numbers";
  return `${text(row, "key")} ${says} by line ${text(row, "line")} of the ${text(row, "source")}${endWords(row)}`;
}

export function findingWords(row: Finding): string {
  switch (row.what) {
    case "condition":
      return conditionWords(row);
    case "key":
      return keyWords(row);
    case "ban":
      return `${text(row, "key")} is banned by ${text(row, "source")}${endWords(row)}`;
    case "override":
      return overrideWords(row);
    case "counts":
      return row["key"] === null
        ? `counts by ${text(row, "form")}; keys of it that have no name are not found`
        : `would count it as ${text(row, "key")}, of which nothing is known yet`;
    default:
      return JSON.stringify(row);
  }
}

const NO_EARLY_DROP: Record<string, string> = {
  no_port: "No port of this box drops anything early.",
  box_decides: "Nothing: the box sees more than the kernel (tunnels, or malformed packets that pass).",
  not_judging: "Nothing: the box judges nothing now.",
};
/** Why the kernel drops nothing early; null: it may. */
export function noEarlyDrop(state: string): string | null {
  return state === "works" ? null : (known(NO_EARLY_DROP, state) ?? state);
}

export function earlyWords(entry: EarlyEntry): string {
  if (entry.by === "exempt") {
    return "exempt, so left to the box";
  }
  const why =
    entry.by === "condition" ? "by its condition" : entry.by === "penalty_box" ? "in its penalty box" : `banned by ${entry.by}`;
  const until = entry.until === null || entry.by === "condition" ? "" : `, until ${entry.until}`;
  return `${why}${entry.applies_to === "source" ? ", all that the source sends" : ""}${until}`;
}

/** Nothing but rules that would count it, as they would count anything of its form. */
export function nothingKnown(answer: FindAnswer): boolean {
  return answer.findings.every(({ what }) => what === "counts");
}

/** Why something may be missing here. */
export function leftOut(answer: FindAnswer): string[] {
  return [
    answer.boxes_read ? "" : "No dataplane is connected: buckets and penalty boxes are not known.",
    answer.lists_read ? "" : "What lists name is told to root and to who applied the rules alone, and left out.",
    (answer.unread ?? []).length === 0 ? "" : `Rules whose conditions read lists, of which it may be: ${(answer.unread ?? []).join(", ")}.`,
    answer.cut === true ? "Not all of it is here: there are more keys, or lists, than are looked into." : "",
  ].filter((one) => one !== "");
}
