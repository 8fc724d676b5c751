import { useState } from "preact/hooks";

import { zone } from "../page";
import { Num } from "../parts/num";
import { Scroll } from "../parts/panel";
import { NO_NUMBER, whole } from "../text/number";
import type { HeatAnswer } from "./heat_answer";
import type { HeatGrid } from "./heat_grid";
import { columnWords, rowWords, TITLES } from "./heat_words";

const AT_ONCE = 12; // columns

/** The same numbers, the newest columns first; rows as in the map, the highest first. */
export function HeatTable({ answer, grid }: { answer: HeatAnswer; grid: HeatGrid }) {
  const [back, setBack] = useState(0);
  const last = grid.columns - 1 - back;
  const columns = Array.from({ length: Math.max(0, Math.min(AT_ONCE, last + 1)) }, (_, at) => last - at);
  const rows = grid.rows.map((_, at) => grid.rows.length - 1 - at);
  return (
    <>
      <Scroll label={`${TITLES[grid.by]}: table`}>
        <table class="numbers">
          <caption class="unseen">{TITLES[grid.by]}</caption>
          <thead>
            <tr>
              <th scope="col">{grid.by === "offered" ? "Asked for" : "Left"}</th>
              {columns.map((column) => (
                <th scope="col" class="number" data-column={column}>
                  {columnWords(answer, column, zone.value)}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>
            {rows.map((row) => (
              <tr data-row={row}>
                <th scope="row">{rowWords(grid, row)}</th>
                {columns.map((column) => {
                  const groups = grid.groups(column, row);
                  return (
                    <td class="number">
                      <Num text={groups === null ? NO_NUMBER : whole(groups)} />
                    </td>
                  );
                })}
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
      <p class="pager">
        <button type="button" disabled={last < AT_ONCE} onClick={() => setBack(back + AT_ONCE)}>
          Earlier columns
        </button>
        <button type="button" disabled={back === 0} onClick={() => setBack(Math.max(0, back - AT_ONCE))}>
          Later columns
        </button>
      </p>
    </>
  );
}
