import { useSignal } from "@preact/signals";

import { fragmentOf } from "../../frame/route";
import { HeatMap } from "../../heat/heat_map";
import type { HeatAnswer } from "../../heat/heat_answer";
import { Num } from "../../parts/num";
import { Scroll } from "../../parts/panel";
import { Text } from "../../parts/text";
import { known } from "../../text/known";
import { scaled, share, whole } from "../../text/number";
import { draft } from "./draft";
import type { Judged } from "./judged_answer";
import type { Shown } from "./judging";

const MODES: Readonly<Record<string, string>> = { off: "off", monitor: "monitor", enforce: "enforce" };

function Names({ judged, rule }: { judged: Judged; rule: string }) {
  if (judged.names.length === 0) {
    return <p class="empty">{judged.refused === 0 ? "No group would have been refused anything." : "No group that was refused has shown its name."}</p>;
  }
  return (
    <Scroll label="Groups that would have been refused most">
      <table>
        <thead>
          <tr>
            <th scope="col">Group</th>
            <th scope="col" class="number">Asked for</th>
            <th scope="col" class="number would-refuse">Would refuse</th>
          </tr>
        </thead>
        <tbody>
          {judged.names.map((row) => (
            <tr key={row.key}>
              <th scope="row">
                <a href={fragmentOf({ screen: "key", subject: rule, words: { key: row.key } })}>
                  <Text of={row.key} most={120} />
                </a>
              </th>
              <td class="number"><Num text={whole(row.offered)} /></td>
              <td class="number would-refuse"><Num text={whole(row.refused)} /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

function Maps({ map }: { map: HeatAnswer }) {
  const cursor = useSignal<number | null>(null);
  return (
    <div class="maps">
      {map.reading !== null && <p class="reading"><Text of={map.reading.says} most={600} /></p>}
      <HeatMap answer={map} by="offered" cursor={cursor} chosen={null} choose={() => undefined} />
      <HeatMap answer={map} by="left" cursor={cursor} chosen={null} choose={() => undefined} />
    </div>
  );
}

/** The other rules over the same capture. */
function Rules({ judged, rule }: { judged: Judged; rule: string }) {
  const met = judged.rules.filter((row) => row.id === rule || (row.matched ?? 0) > 0);
  return met.length === 0 ? null : (
    <Scroll label="Rules over this capture">
      <table>
        <thead>
          <tr>
            <th scope="col">Rule</th>
            <th scope="col">Mode</th>
            <th scope="col" class="number">Matched</th>
            <th scope="col" class="number refused">Refused</th>
            <th scope="col" class="number would-refuse">Would refuse</th>
          </tr>
        </thead>
        <tbody>
          {met.map((row) => (
            <tr key={row.id}>
              <th scope="row"><Text of={row.id} />{row.id === rule && " (this draft)"}</th>
              <td>{known(MODES, row.mode) ?? "?"}</td>
              <td class="number"><Num text={whole(row.matched)} /></td>
              <td class="number refused"><Num text={whole(row.refused)} /></td>
              <td class="number would-refuse"><Num text={whole(row.wouldRefuse)} /></td>
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

/** A sentence, its numbers, and what is behind them. */
export function JudgedResult({ shown }: { shown: Shown }) {
  const { judged } = shown;
  const isOld = draft.value?.text !== shown.text;
  return (
    <section class={isOld ? "judged old" : "judged"} aria-label="What the draft would have done">
      {isOld && (
        <p class="notice" role="status">
          This is of an older draft: its text was changed since.
        </p>
      )}
      <p>
        {judged.isExact ? "Exact" : "About"}, over <Num text={whole(judged.packets)} /> packets of <Text of={shown.of} most={80} />.
      </p>
      <p class="says" role="status">
        <Text of={judged.says} most={600} />
      </p>
      <dl class="cost">
        <dt>Match</dt>
        <dd><Num text={scaled(judged.matched)} /> <Text of={judged.unit} most={40} /></dd>
        <dt class="would-refuse">Would refuse</dt>
        <dd><Num text={scaled(judged.refused)} /> (<Num text={share(judged.share)} />)</dd>
        <dt>Groups</dt>
        <dd><Num text={whole(judged.refusedGroups)} /> of <Num text={whole(judged.groups)} /> would be refused something{judged.oneIn > 1 && `; one in ${whole(judged.oneIn)} was judged`}</dd>
      </dl>
      {judged.unknown.length > 0 && (
        <ul class="unknown" aria-label="What cannot be known">
          {judged.unknown.map((text) => (
            <li><Text of={text} most={400} /></li>
          ))}
        </ul>
      )}
      <Names judged={judged} rule={shown.rule} />
      <Rules judged={judged} rule={shown.rule} />
      {judged.maps.map((map) => (
        <Maps key={map.limit} map={map} />
      ))}
    </section>
  );
}
