// One request to sluiced, and what came of it. Nothing is thrown for what the other side says.
export interface Call {
  method?: "GET" | "POST" | "PUT" | "DELETE";
  body?: unknown;
  rules?: string; // text of rules instead of a body
  form?: FormData; // several files of rules
  token?: string | null;
  ifMatch?: string; // the generation that is to be in force
  signal?: AbortSignal;
  keepalive?: boolean; // it is sent though the page goes
}
const LONGEST_MS = 10_000; // of a call that has no limit of its own
export interface Reply {
  status: number; // 0: nobody answered
  body: unknown;
  againIn: number | null; // seconds
}
export type Send = (path: string, call: Call) => Promise<Reply>;

function membersOf(body: unknown): Record<string, unknown> {
  return typeof body === "object" && body !== null ? (body as Record<string, unknown>) : {};
}

export const NO_ANSWER = "sluiced does not answer";

/** Why a call was refused, in the words of the answer (RFC 9457). */
export function reasonOf(reply: Reply): string {
  if (reply.status === 0) {
    return NO_ANSWER;
  }
  const { title, detail } = membersOf(reply.body);
  const words = [title, detail].filter((word) => typeof word === "string" && word !== "");
  return words.length > 0 ? words.join(": ") : `sluiced answers ${reply.status}`;
}

function againIn(answer: Response, body: unknown): number | null {
  const member = membersOf(body)["again_in"];
  const seconds = typeof member === "number" ? member : Number(answer.headers.get("Retry-After") ?? NaN);
  return Number.isFinite(seconds) && seconds >= 0 ? seconds : null;
}

export const send: Send = async (path, call) => {
  const headers: Record<string, string> = { Accept: "application/json" };
  if (call.token) {
    headers["X-Sluice-Session"] = call.token; // Authorization is the proxy's, where one asks for a password
  }
  const init: RequestInit = { method: call.method ?? "GET", headers, cache: "no-store", redirect: "error" };
  if (init.method !== "GET" && call.form === undefined) {
    headers["Content-Type"] = call.rules === undefined ? "application/json" : "application/yaml";
  }
  if (call.body !== undefined) {
    init.body = JSON.stringify(call.body);
  } else if (call.rules !== undefined || call.form !== undefined) {
    init.body = call.rules ?? call.form ?? null;
  }
  if (call.ifMatch !== undefined) {
    headers["If-Match"] = `"${call.ifMatch}"`;
  }
  init.keepalive = call.keepalive ?? false;
  init.signal = call.signal ?? AbortSignal.timeout(LONGEST_MS);
  try {
    // A page that was opened with a name and password in its address has them in what is relative to it, which fetch refuses.
    const answer = await fetch(new URL(path, location.origin), init);
    const text = await answer.text();
    let body: unknown = null;
    try {
      body = JSON.parse(text);
    } catch {
      body = null;
    }
    return { status: answer.status, body, againIn: againIn(answer, body) };
  } catch {
    return { status: 0, body: null, againIn: null };
  }
};
