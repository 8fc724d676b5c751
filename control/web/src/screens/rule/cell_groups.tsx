import { useEffect, useRef } from "preact/hooks";

import { fragmentOf } from "../../frame/route";
import type { HeatRow, Cell } from "../../heat/heat_grid";
import { leftWords, offeredWords } from "../../heat/heat_words";
import { route, zone } from "../../page";
import { Num } from "../../parts/num";
import { Empty, Scroll } from "../../parts/panel";
import { Text } from "../../parts/text";
import { countText, share, whole } from "../../text/number";
import { clockText, instantText } from "../../text/time";
import { BanButton } from "./ban_form";
import { comparison } from "./condition";
import { KeyLinks } from "./key_links";
import type { CellAnswer } from "./rule_answers";
import { cell as cellPoll } from "./rule_polls";
import { pathOfRule, rulePlaceOf } from "./rule_place";

export interface ChosenCell {
  by: "offered" | "left";
  at: number; // ms, of the column
  cell: Cell;
  row: HeatRow;
  stepS: number;
  limit: number;
  isAll: boolean; // no group of this column is in another cell
}

function cellPath(rule: string, chosen: ChosenCell): string {
  const words = new URLSearchParams({
    limit: String(chosen.limit),
    step: String(chosen.stepS),
    at: new Date(chosen.at).toISOString().replace(/\.000Z$/, "Z"),
    by: chosen.by,
    bucket: String(chosen.row.bucket),
  });
  return pathOfRule(rule, `heatmap/cell?${words.toString()}`);
}

function Keys({ answer, limit }: { answer: CellAnswer; limit: number }) {
  if (answer.keys.length === 0) {
    return (
      <Empty>
        {answer.namesMissing > 0
          ? `${countText(answer.namesMissing, "watched group is", "watched groups are")} here, and none has shown its name yet.`
          : "No group of this cell is known by name any more: names are kept of the newest column alone, counts for longer."}
      </Empty>
    );
  }
  return (
    <Scroll label="Watched groups">
      <table>
        <thead>
          <tr>
            <th scope="col">Watched group</th>
            <th scope="col" class="number">Asked for</th>
            <th scope="col" class="number refused">Refused</th>
            <th scope="col" class="number">Least left</th>
            <th scope="col">What to do</th>
          </tr>
        </thead>
        <tbody>
          {answer.keys.map((row) => (
            <tr key={row.key}>
              <th scope="row"><Text of={row.key} /></th>
              <td class="number"><Num text={whole(row.offered)} /></td>
              <td class="number refused"><Num text={whole(row.refused)} /></td>
              <td class="number"><Num text={share(row.left)} /></td>
              <td><KeyLinks name={row.key} limit={limit} /> <BanButton name={row.key} /></td>
            </tr>
          ))}
        </tbody>
      </table>
      {answer.namesMissing > 0 && <p class="empty">{countText(answer.namesMissing, "more watched group has", "more watched groups have")} shown no name.</p>}
    </Scroll>
  );
}

function Shared({ answer, isAll }: { answer: CellAnswer; isAll: boolean }) {
  const { rule } = rulePlaceOf(route.value);
  if (answer.keys.length === 0) {
    return <Empty>What they share is not known either: it is found out by the names.</Empty>;
  }
  if (isAll) {
    return <Empty>All groups of this column are in this cell: there are no others to compare them with, so nothing tells them apart.</Empty>;
  }
  if (answer.shared.length === 0) {
    return <Empty>The watched groups of this cell share nothing that the others do not have as often.</Empty>;
  }
  return (
    <Scroll label="What they share">
      <table>
        <thead>
          <tr>
            <th scope="col">What they share</th>
            <th scope="col">Value</th>
            <th scope="col" class="number">Here</th>
            <th scope="col" class="number">Elsewhere</th>
            <th scope="col">As a condition</th>
          </tr>
        </thead>
        <tbody>
          {answer.shared.map((row) => {
            const condition = comparison(row.field, row.value);
            return (
              <tr>
                <th scope="row"><Text of={row.field} /></th>
                <td><Text of={row.value} /></td>
                <td class="number"><Num text={share(row.here)} /></td>
                <td class="number"><Num text={share(row.rest)} /></td>
                <td>
                  {condition === null ? (
                    <small>not as it is written</small>
                  ) : (
                    <>
                      <Text of={condition} /> <a href={fragmentOf({ screen: "builder", words: { rule, condition } })}>Into a rule</a>
                    </>
                  )}
                </td>
              </tr>
            );
          })}
        </tbody>
      </table>
    </Scroll>
  );
}

/** The groups of a cell: how many, the watched ones by name, what they share against the rest. */
export function CellGroups({ chosen, close }: { chosen: ChosenCell; close(): void }) {
  const { rule } = rulePlaceOf(route.value);
  const path = cellPath(rule, chosen);
  const place = useRef<HTMLElement>(null);
  useEffect(() => {
    cellPoll.ask(path);
    place.current?.focus();
  }, [path]);
  useEffect(() => () => cellPoll.ask(null), []);
  const shown = cellPoll.shown.value?.path === path ? cellPoll.shown.value.answer : null;
  const trouble = cellPoll.trouble.value;
  const words = chosen.by === "offered" ? `asked for ${offeredWords(chosen.row)}` : leftWords(chosen.row);
  return (
    <section class="cell" aria-labelledby="cell-title" tabIndex={-1} ref={place}>
      <h3 id="cell-title">
        {clockText(chosen.at, zone.value)} to {instantText(chosen.at + chosen.stepS * 1000, zone.value, Date.now())}, {words}{" "}
        <button type="button" onClick={close}>Close</button>
      </h3>
      {shown === null ? (
        <Empty>{trouble === null ? "The groups of this cell are asked for…" : <>They are not read: <Text of={trouble} most={300} />.</>}</Empty>
      ) : (
        <>
          <p>
            {shown.oneIn > 1 ? "About " : ""}<Num text={whole(shown.groups)} /> {shown.groups === 1 ? "group" : "groups"}
            {shown.oneIn > 1 ? `; one in ${whole(shown.oneIn)} is watched.` : "; every one is watched."}
          </p>
          <Keys answer={shown} limit={chosen.limit} />
          <Shared answer={shown} isAll={chosen.isAll} />
        </>
      )}
    </section>
  );
}
