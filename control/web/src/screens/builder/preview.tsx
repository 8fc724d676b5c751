import { signal } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";

import { ask } from "../../parts/ask";
import { fragmentOf } from "../../frame/route";
import { Act } from "../../parts/act";
import { Num } from "../../parts/num";
import { Panel } from "../../parts/panel";
import { Text } from "../../parts/text";
import { who } from "../../page";
import { known } from "../../text/known";
import { share, whole } from "../../text/number";
import { draft } from "./draft";
import { placeOf } from "./draft_place";
import { HALF_STEPS, latelyOfPreview, type Lately } from "./lately";
import { Previewing, type PreviewAnswer } from "./previewing";

// What the draft would do to the traffic of the next seconds.
export const previewed = signal<Lately | null>(null);
const shown = signal<{ text: string; answer: PreviewAnswer } | null>(null);
const SECONDS = [10, 20, 60];

/** A sluiced that does not name the verb wants the role of comparing. */
function verbOfPreview(): string {
  return known(who.value?.verbs ?? {}, "preview") === undefined ? "diff" : "preview";
}

function rest(ms: number): Promise<void> {
  return new Promise((done) => setTimeout(done, ms));
}

/** How many groups asked for how much, as bars by half steps of log2. */
function Bars({ lately }: { lately: Lately }) {
  const rows = lately.groups.map((count, bucket) => ({ count, bucket })).filter((row) => row.count > 0);
  const most = Math.max(...rows.map((row) => row.count));
  return (
    <table class="bars">
      <caption>Groups by what they asked for in {lately.step} s, about</caption>
      <tbody>
        {rows.map(({ count, bucket }) => (
          <tr>
            <th scope="row" class="number">
              {bucket === 0 ? "0" : `from ${whole(HALF_STEPS[bucket])}`}
            </th>
            <td>
              <meter min={0} max={most} value={count} aria-label={`${whole(count)} groups`} />
            </td>
            <td class="number">
              <Num text={whole(count)} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

function Result({ answer, isOld }: { answer: PreviewAnswer; isOld: boolean }) {
  const lately = latelyOfPreview(answer.body);
  return (
    <div class="preview" aria-live="polite">
      {isOld && <p class="in-text">The text has changed since: this is of the one before.</p>}
      {answer.state === "running" && <p>Looking: {whole(answer.secondsDone)} s so far…</p>}
      {answer.state === "cancelled" && <p>It was cancelled.</p>}
      {answer.says !== null && (
        <p class="says">
          <Text of={answer.says} most={600} />
        </p>
      )}
      {answer.oneIn !== null && answer.oneIn > 1 && (
        <p class="note">
          About: one group in <Num text={whole(answer.oneIn)} /> was watched; those are exact, sums are scaled.
        </p>
      )}
      {answer.refusedGroups !== null && (
        <p>
          It would have refused <Num text={share(answer.share)} />, of <Num text={whole(answer.refusedGroups)} /> of <Num text={whole(answer.groups)} /> groups.
        </p>
      )}
      {answer.unseen.map((what) => (
        <p class="note">
          Not seen: <Text of={what} most={300} />
        </p>
      ))}
      {answer.leftOut !== null && answer.leftOut > 0 && (
        <p class="note">
          <Num text={whole(answer.leftOut)} /> packets found no place, and are missing here.
        </p>
      )}
      {lately !== null && <Bars lately={lately} />}
      {answer.worst.length > 0 && <Worst answer={answer} />}
    </div>
  );
}

function Worst({ answer }: { answer: PreviewAnswer }) {
  const subject = draft.value?.subject ?? "";
  return (
    <table>
      <caption>Groups that it would refuse most</caption>
      <thead>
        <tr>
          <th scope="col">Group</th>
          <th scope="col" class="number">Offered</th>
          <th scope="col" class="number would-refuse">Would refuse</th>
        </tr>
      </thead>
      <tbody>
        {answer.worst.slice(0, 20).map((row) => (
          <tr>
            <th scope="row">{subject === "" ? <Text of={row.key} /> : <a href={fragmentOf({ screen: "key", subject, words: { key: row.key } })}><Text of={row.key} /></a>}</th>
            <td class="number">
              <Num text={whole(row.offered)} />
            </td>
            <td class="number would-refuse">
              <Num text={whole(row.refused)} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** `isReadable`: the text compiles. */
export function PreviewStep({ isReadable }: { isReadable: string | null }) {
  const [seconds, setSeconds] = useState(20);
  const [running, setRunning] = useState<Previewing | null>(null);
  const now = draft.value;
  useEffect(() => () => running?.cancel(), [running]); // cancelled with the page
  useEffect(() => {
    [previewed.value, shown.value] = [null, null];
  }, [now?.subject]);
  const run = async (): Promise<string | null> => {
    const of = draft.peek();
    if (of === null) {
      return "there is no draft";
    }
    const call = new Previewing(
      (method, path, body) => ask(path, { method, ...(body === undefined ? {} : { body }) }),
      (answer) => {
        shown.value = { text: of.text, answer };
        previewed.value = latelyOfPreview(answer.body) ?? previewed.peek();
      },
      rest,
    );
    setRunning(call);
    const why = await call.run(placeOf(of), of.text, seconds);
    setRunning(null);
    return why;
  };
  return (
    <Panel title="Preview">
      <p>
        The next{" "}
        <select aria-label="Seconds of the preview" value={String(seconds)} onChange={(event) => setSeconds(Number(event.currentTarget.value))}>
          {SECONDS.map((one) => (
            <option value={String(one)} selected={one === seconds}>
              {one} s
            </option>
          ))}
        </select>{" "}
        of traffic, judged by this draft; nothing is refused by it.
      </p>
      <p>
        <Act verb={verbOfPreview()} isAllowed={isReadable} run={run}>
          Preview
        </Act>{" "}
        {running !== null && (
          <button type="button" onClick={() => running.cancel()}>
            Cancel
          </button>
        )}
      </p>
      {shown.value !== null && <Result answer={shown.value.answer} isOld={shown.value.text !== now?.text} />}
    </Panel>
  );
}
