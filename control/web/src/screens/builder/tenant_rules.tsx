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
const AGAIN_MS = 2000;
const kept = signal<TenantRules | null>(null); // as sluiced has them
const trouble = signal<string | null>(null);
const written = signal<string | null>(null); // null: nothing is changed
const problems = signal<readonly TextProblem[]>([]);
const checked = signal<string | null>(null); // the text that was found sound
const news = signal<string | null>(null);

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
  if (kept.peek()?.trialLeft != null && found.trialLeft === null) {
    news.value = found.etag === kept.peek()?.etag ? "It is confirmed, and stays in force." : "It went back. What you wrote is kept.";
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
    news.value = "Somebody has changed your rules since this text was read. What you wrote is kept.";
  }
  const why = await told(reply);
  if (why === null) {
    news.value = "In force for 60 s. Unless somebody confirms it, it goes back by itself, also if this page is closed.";
    await load();
  }
  return why;
}

async function end(word: "confirm" | "rollback"): Promise<string | null> {
  const base = kept.peek();
  const reply = await ask(path(word), { method: "POST", ...(base === null ? {} : { ifMatch: base.etag }) });
  if (reply.status === 200 && word === "confirm") {
    written.value = null;
  }
  await load();
  return reply.status === 200 ? null : reasonOf(reply);
}

function setText(text: string): void {
  written.value = text === kept.peek()?.text ? null : text;
  problems.value = [];
}

function throwAway(): void {
  [written.value, checked.value, news.value, problems.value] = [null, null, null, []];
  void load();
}

function Review() {
  const base = kept.value;
  if (base === null) {
    return null;
  }
  const text = now();
  const why = written.value === null ? "nothing is changed" : null;
  return (
    <Panel title="Review and apply">
      {written.value !== null && <LineDiff label="Changes of your rules" before={base.text} after={text} />}
      <p>
        {base.trialLeft !== null ? (
          <>
            <Act verb="confirm" run={() => end("confirm")}>Confirm</Act>{" "}
            <Act verb="rollback" run={() => end("rollback")}>Go back now</Act>
          </>
        ) : checked.value === text && written.value !== null ? (
          <Act verb="apply" isAllowed={why} run={apply}>Apply for 60 s</Act>
        ) : (
          <Act verb="check" isAllowed={why} run={check}>Check</Act>
        )}{" "}
        {written.value !== null && <button type="button" onClick={throwAway}>Throw my changes away</button>}
      </p>
    </Panel>
  );
}

export function TenantRulesScreen() {
  useEffect(() => {
    void loadWords();
    void load();
    const timer = setInterval(() => void (kept.peek()?.trialLeft != null && !isStale.peek() && load()), AGAIN_MS);
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
