import { useEffect, useRef } from "preact/hooks";

import { whole } from "../../text/number";
import { newLimit, withValue, type Limit } from "./limits";
import { Problems } from "./limits_form";
import { answer, forgetHits, hit, run, setBoth, setRun } from "./playing";
import { loadOf, LOADS, MOST_HITS, newRun, withWord } from "./run";

const STREAM_MS = 50; // between hits while the button is held

/** A hit as it is pressed, and a stream of them as long as it is held, by pointer or by key. */
function HitButton() {
  const timer = useRef<number | null>(null);
  const stop = (): void => {
    if (timer.current !== null) {
      clearInterval(timer.current);
      timer.current = null;
    }
  };
  const start = (): void => {
    if (timer.current === null) {
      hit(performance.now());
      timer.current = setInterval(() => hit(performance.now()), STREAM_MS);
    }
  };
  useEffect(() => stop, []);
  const isPress = (event: KeyboardEvent): boolean => event.key === " " || event.key === "Enter";
  return (
    <p class="hits">
      <button type="button" class="hit" aria-describedby="hit-says" onPointerDown={(event) => event.button === 0 && start()} onPointerUp={stop} onPointerLeave={stop} onPointerCancel={stop} onBlur={stop}
        onContextMenu={(event) => event.preventDefault()}
        onKeyDown={(event) => {
          if (isPress(event)) {
            event.preventDefault();
            start();
          }
        }}
        onKeyUp={(event) => isPress(event) && stop()}>
        Hit
      </button>
      <button type="button" disabled={run.value.hits.length === 0} onClick={forgetHits}>
        Begin anew
      </button>
      <span id="hit-says">
        {run.value.hits.length >= MOST_HITS ? `${whole(MOST_HITS)} hits: there can be no more.` : `${whole(run.value.hits.length)} hits. Hold it for a stream.`}
      </span>
    </p>
  );
}

interface Scene {
  title: string;
  limits: () => readonly Limit[];
  load: string;
  words: readonly (readonly [string, string])[];
}

function limitOf(algorithm: string, values: Record<string, string>): Limit {
  return Object.entries(values).reduce((limit, [name, value]) => withValue(limit, name, value), newLimit(algorithm));
}

const SCENES: readonly Scene[] = [
  {
    title: "Two bursts around an edge",
    limits: () => [limitOf("fixed_window", {}), limitOf("sliding_window", {}), limitOf("sliding_log", {})],
    load: "edge",
    words: [],
  },
  {
    title: "A backlog of 10,000 with stalls",
    limits: () => [limitOf("token_bucket", { rate: "1000/s", burst: "1000" }), limitOf("leaky_bucket", { rate: "1000/s", queue: "1000" }), limitOf("fixed_window", { count: "1000" }), limitOf("sliding_log", { count: "1000" })],
    load: "backlog",
    words: [],
  },
  {
    title: "Days whose clocks change",
    limits: () => [limitOf("fixed_window", { count: "20", window: "1d", zone: "Europe/Berlin" }), limitOf("fixed_window", { count: "20", window: "1d" }), limitOf("sliding_log", { count: "20", window: "1d" })],
    load: "constant",
    words: [["offer", "1/h"], ["duration", "4d"], ["start", "2026-03-27T23:00:00Z"]],
  },
];

export function LoadForm() {
  const kind = loadOf(run.value.load);
  const problems = (answer.value?.problems ?? []).filter((one) => one.of === "run");
  return (
    <>
      <p class="scenes">
        Begin with:{" "}
        {SCENES.map((scene) => (
          <button type="button" onClick={() => setBoth(scene.limits(), newRun(scene.load, new Map(scene.words)))}>
            {scene.title}
          </button>
        ))}
      </p>
      <fieldset class="play-limit">
        <legend>Load</legend>
        <label>
          <span>kind</span>
          <select name="load" value={run.value.load} onChange={(event) => setRun(newRun(event.currentTarget.value, new Map(), run.value.hits))}>
            {LOADS.map((one) => <option value={one.name}>{one.title}</option>)}
          </select>
        </label>
        {kind.fields.map((field) => (
          <label key={`${kind.name} ${field.name}`}>
            <span>{field.title}</span>
            <input name={field.name} value={run.value.words.get(field.name) ?? ""} size={field.name === "stalls" || field.name === "start" ? 20 : 8} autocomplete="off" spellcheck={false}
              onInput={(event) => setRun(withWord(run.value, field.name, event.currentTarget.value))} />
          </label>
        ))}
        <Problems list={problems} />
      </fieldset>
      {kind.name === "hits" && <HitButton />}
    </>
  );
}
