import { signal } from "@preact/signals";

import { isNumber } from "../text/number";
import type { Zone } from "../text/time";
import type { Who } from "./answers";
import { isWho, UNKNOWN_ANSWER } from "./known_answer";
import { reasonOf, type Send } from "./send";

// The authority of this page: a token in sessionStorage, sent in a header of its own; or nothing of its own, where
// a Unix socket or a proxy says who asks.
export type SessionState =
  | { kind: "asking" }
  | { kind: "open"; who: Who }
  | { kind: "locked"; why: string; isTried: boolean }; // tried: it is asked for once more by itself

export interface TokenStore {
  getItem(name: string): string | null;
  setItem(name: string, value: string): void;
  removeItem(name: string): void;
}
const NAME = "sluice.session";

/** The one-time secret of a link of `sluicectl dashboard`: `#secret=...`; null: there is none. */
export function secretIn(fragment: string): string | null {
  const found = /^#secret=(.+)$/.exec(fragment)?.[1];
  if (found === undefined) {
    return null;
  }
  try {
    return decodeURIComponent(found);
  } catch {
    return found;
  }
}

/** The time zone of the box, as GET /v1/session says it. */
export function boxZoneOf(who: Who | null): Zone {
  const { name, offset_s } = who?.zone ?? {};
  return isNumber(offset_s) ? { name: typeof name === "string" ? name : null, offset_s } : "utc";
}

export class Session {
  readonly state = signal<SessionState>({ kind: "asking" });

  constructor(
    private readonly send: Send,
    private readonly store: TokenStore,
  ) {}

  token(): string | null {
    return this.store.getItem(NAME);
  }

  async begin(secret: string | null): Promise<void> {
    if (secret !== null) {
      await this.enter({ secret });
    } else {
      await this.ask();
    }
  }

  /** A link that was used ends no session that this page has. */
  async takeLink(secret: string): Promise<void> {
    if (this.state.peek().kind !== "open") {
      await this.enter({ secret });
      return;
    }
    const reply = await this.send("/v1/session", { method: "POST", body: { secret } });
    const token = (reply.body as { session?: unknown } | null)?.session;
    if (reply.status === 201 && typeof token === "string") {
      this.store.setItem(NAME, token);
      await this.ask();
    }
  }

  /** What this caller may do may be another thing by now; nothing changes where nobody answers. */
  async askAgain(): Promise<void> {
    const reply = await this.send("/v1/session", { token: this.token() });
    const who = reply.body;
    if (reply.status === 200 && isWho(who) && this.state.peek().kind === "open") {
      this.state.value = { kind: "open", who };
    }
  }

  /** A secret or a named token for a session; what was wrong with it shows where the page is locked. */
  async enter(given: { secret: string } | { token: string }): Promise<void> {
    this.state.value = { kind: "asking" };
    const reply = await this.send("/v1/session", { method: "POST", body: given });
    const token = (reply.body as { session?: unknown } | null)?.session;
    if (reply.status !== 201 || typeof token !== "string") {
      this.lock(reasonOf(reply));
      return;
    }
    this.store.setItem(NAME, token);
    await this.ask();
  }

  /** Nobody has said that there is no session: sluiced is away, or has no time. */
  private static isForLater(status: number): boolean {
    return status === 0 || status === 429 || status >= 500;
  }

  private async ask(): Promise<void> {
    const reply = await this.send("/v1/session", { token: this.token() });
    if (reply.status === 200) {
      const who = reply.body;
      this.state.value = isWho(who) ? { kind: "open", who } : { kind: "locked", why: UNKNOWN_ANSWER, isTried: false };
    } else if (Session.isForLater(reply.status)) {
      this.state.value = { kind: "locked", why: reasonOf(reply), isTried: true };
    } else {
      this.lock(reply.status === 401 ? "This page has no session." : reasonOf(reply), reply.status === 401);
    }
  }

  /** Nothing that was typed is lost: the page stays behind the lock. */
  lock(why: string, forget = false): void {
    if (forget) {
      this.store.removeItem(NAME);
    }
    this.state.value = { kind: "locked", why, isTried: false };
  }

  async leave(): Promise<void> {
    await this.send("/v1/session", { method: "DELETE", token: this.token() });
    this.lock("You have left.", true);
  }
}
