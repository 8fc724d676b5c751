import { signal } from "@preact/signals";
import { useEffect } from "preact/hooks";

import { Code } from "../../editor/code";
import { knownWords, loadWords } from "../../editor/known_words";
import type { TextProblem } from "../../editor/problems";
import { tenant } from "../../frame/tenant";
import { isStale } from "../../page";
import { Act } from "../../parts/act";
import { ask, COMPILE_MS } from "../../parts/ask";
import { LineDiff } from "../../parts/line_diff";
import { Empty, Panel } from "../../parts/panel";
import { Text } from "../../parts/text";
import { reasonOf, type Reply } from "../../transport/send";
import { tenantProblemsOf, tenantRulesOf, type TenantRules } from "./tenant_text";

// The rules of a tenant, as its own people edit them: one text, checked and applied by itself, on trial before it stays.
const TRIAL = "60s";
const AGAIN_MS = 1000;
const IDLE_TICKS = 5; // between looks while nothing is on trial
const kept = signal<TenantRules | null>(null); // as sluiced has them
const trouble = signal<string | null>(null);
const written = signal<string | null>(null); // null: nothing is changed
const problems = signal<readonly TextProblem[]>([]);
const checked = signal<string | null>(null); // the text that was found sound
const news = signal<string | null>(null);

// What is written is kept in this tab until it is in force or thrown away.
const NAME = "sluice.tenant-draft.";

function write(text: string | null): void {
  written.value = text;
  const name = NAME + (tenant.peek() ?? "");
  try {
    if (text === null) {
      sessionStorage.removeItem(name);
    } else {
      sessionStorage.setItem(name, text);
    }
  } catch {
    sessionStorage.removeItem(name); // more than a tab may keep
  }
}

function path(rest: string): string {
  return `/v1/tenants/${encodeURIComponent(tenant.peek() ?? "")}/${rest}`;
}

async function load(): Promise<void> {
  const reply = await ask(path("rules"));
  const found = reply.status === 200 ? tenantRulesOf(reply.body) : null;
  if (found === null) {
    trouble.value = reply.status === 200 ? "what answers is none of a tenant's rules" : reasonOf(reply);
    return;
  }
  if (kept.peek()?.trialLeft === null && found.trialLeft !== null) {
    news.value = null; // it is of what was before this trial
  }
  if (kept.peek()?.trialLeft != null && found.trialLeft === null) {
    const isKept = found.etag === kept.peek()?.etag;
    news.value = isKept ? "It is confirmed, and stays in force." : written.peek() === null ? "It went back." : "It went back. What you wrote is kept.";
    if (isKept && written.peek() === found.text) {
      write(null);
    }
  }
  [kept.value, trouble.value] = [found, null];
}

function now(): string {
  return written.value ?? kept.value?.text ?? "";
}

async function told(reply: Reply): Promise<string | null> {
  problems.value = tenantProblemsOf(reply.body);
  return reply.status === 200 ? null : reasonOf(reply);
}

async function check(): Promise<string | null> {
  const text = now();
  const why = await told(await ask(path("check"), { method: "POST", rules: text, signal: AbortSignal.timeout(COMPILE_MS) }));
  checked.value = why === null ? text : null;
  return why;
}

async function apply(): Promise<string | null> {
  const [text, base] = [now(), kept.peek()];
  const reply = await ask(path(`rules?confirm=${TRIAL}`), {
    method: "PUT",
    rules: text,
    signal: AbortSignal.timeout(COMPILE_MS),
    ...(base === null ? {} : { ifMatch: base.etag }),
  });
  if (reply.status === 412) {
    await load();
    checked.value = null;
    news.value = "Somebody has changed your rules since this text was read. What you wrote is kept, and compared below with the rules in force now: check it again.";
  }
  const why = await told(reply);
  if (why === null) {
    await load();
    news.value = "It is in force. Unless somebody confirms it, it goes back by itself, also if this page is closed.";
  }
  return why;
}

async function end(word: "confirm" | "rollback"): Promise<string | null> {
  const base = kept.peek();
  const reply = await ask(path(word), { method: "POST", ...(base === null ? {} : { ifMatch: base.etag }) });
  if (reply.status === 200 && word === "confirm") {
    write(null);
  }
  await load();
  return reply.status === 200 ? null : reasonOf(reply);
}

function setText(text: string): void {
  write(text === kept.peek()?.text && kept.peek()?.trialLeft === null ? null : text);
  problems.value = [];
}

function throwAway(): void {
  write(null);
  [checked.value, news.value, problems.value] = [null, null, []];
  void load();
}

function Review() {
  const base = kept.value;
  if (base === null) {
    return null;
  }
  const text = now();
  return (
    <Panel title="Review and apply">
      {base.trialLeft !== null && (
        <p role="timer">
          Your rules are on trial: they go back in {Math.ceil(base.trialLeft)} s unless somebody confirms them.
        </p>
      )}
      {written.value !== null && base.trialLeft === null && <LineDiff label="Changes of your rules" before={base.text} after={text} />}
      <p>
        {base.trialLeft !== null ? (
          <>
            <Act verb="confirm" run={() => end("confirm")}>Confirm</Act>{" "}
            <Act verb="rollback" run={() => end("rollback")}>Go back now</Act>
          </>
        ) : checked.value === text ? (
          <Act verb="apply" run={apply}>Apply for 60 s</Act>
        ) : (
          <Act verb="check" run={check}>Check</Act>
        )}{" "}
        {written.value !== null && base.trialLeft === null && <button type="button" onClick={throwAway}>Throw my changes away</button>}{" "}
        {written.value === null && base.trialLeft === null && <Act verb="rollback" run={() => end("rollback")}>Bring back the rules before these</Act>}
      </p>
    </Panel>
  );
}

export function TenantRulesScreen() {
  useEffect(() => {
    void loadWords();
    written.value = sessionStorage.getItem(NAME + (tenant.peek() ?? ""));
    void load();
    let ticks = 0;
    const timer = setInterval(() => {
      ticks += 1;
      if ((kept.peek()?.trialLeft != null || ticks % IDLE_TICKS === 0) && !isStale.peek()) {
        void load();
      }
    }, AGAIN_MS);
    return () => clearInterval(timer);
  }, []);
  const base = kept.value;
  if (base === null) {
    return <Empty>{trouble.value === null ? "Your rules are asked for…" : <>They cannot be shown: <Text of={trouble.value} most={300} /></>}</Empty>;
  }
  return (
    <div class="builder">
      {news.value !== null && <p role="status">{news.value}</p>}
      {base.problem !== null && <p class="notice" role="alert">Your rules are not in force: <Text of={base.problem} most={400} /></p>}
      <Panel title="Your rules" note={checked.value === now() ? " checked: they compile" : ""}>
        <p class="head">
          Each matches traffic to {base.networks.length === 0 ? "nothing" : <Text of={base.networks.join(", ")} most={300} />} alone, whatever its condition says; <Text of={base.bounds} most={200} />.
        </p>
        <Code label="Text of your rules" text={now()} problems={problems.value} words={knownWords.value} onChange={setText} />
      </Panel>
      <Review />
    </div>
  );
}
