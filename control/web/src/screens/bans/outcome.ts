import { whole } from "../../text/number";
import { reasonOf, type Reply } from "../../transport/send";

// Outcomes of calls that ban or let out, in lines.
const MOST_LINES = 20;

interface Fault {
  line?: unknown;
  message?: unknown;
}

function told(list: unknown, nameOf: (item: number) => string | undefined): string[] {
  const faults = Array.isArray(list) ? (list as Fault[]) : [];
  const lines = faults.slice(0, MOST_LINES).map(({ line, message }) => {
    const key = typeof line === "number" ? nameOf(line) : undefined;
    return `${key === undefined ? "" : `${key}: `}${typeof message === "string" ? message : ""}`;
  });
  return faults.length > MOST_LINES ? [...lines, `and ${faults.length - MOST_LINES} more`] : lines;
}

function count(body: unknown, name: string): number {
  const value = (body as Record<string, unknown> | null)?.[name];
  return typeof value === "number" ? value : 0;
}

/** Of a call about these keys of a rule. */
export function outcomeLines(rule: string, keys: readonly string[], reply: Reply): string[] {
  const body = reply.body as Record<string, unknown> | null;
  const nameOf = (item: number): string | undefined => keys[item - 1];
  if (reply.status !== 200) {
    return [`${rule}: ${reasonOf(reply)}`, ...told(body?.["problems"], nameOf)];
  }
  const parts = [
    [count(body, "banned"), "banned"],
    [count(body, "unbanned"), "let out"],
    [count(body, "not_banned"), "had no ban of their own"],
    [count(body, "ended"), "had ended by then"],
    [count(body, "unanswered"), "could not be asked about"],
  ] as const;
  const says = parts.filter(([number]) => number > 0).map(([number, words]) => `${whole(number)} ${words}`);
  return [`${rule}: ${says.join(", ") || "nothing was done"}`, ...told(body?.["warnings"], nameOf)];
}
