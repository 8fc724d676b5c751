import { useState } from "preact/hooks";

import { pause } from "../../page";
import { Act } from "../../parts/act";
import { ask } from "../../parts/ask";
import { Num } from "../../parts/num";
import { Text } from "../../parts/text";
import { share, whole } from "../../text/number";
import type { Node } from "./condition";
import { measured, rowsIn, type RowRates } from "./row_rates";

/** `12 % of packets`, beside a row. */
export function RateOfRow({ row, rates }: { row: string; rates: RowRates | null }) {
  const rate = rates?.rates.get(row);
  return rate === undefined ? null : (
    <small class="row-rate">
      {rate.share === null ? <Text of={rate.why ?? ""} most={120} /> : <>about <Num text={share(rate.share)} /> of packets</>}
    </small>
  );
}

/** The button that counts them: it is a trace, with its role and its cost. */
export function MeasureRows({ text, node, rates, onRates }: { text: string; node: Node | null; rates: RowRates | null; onRates(rates: RowRates): void }) {
  const [isUnderWay, setUnderWay] = useState(false);
  const rows = rowsIn(text, node);
  const run = async (): Promise<string | null> => {
    setUnderWay(true);
    const found = await measured({ ask, pause: (ms) => pause(ms).over }, rows);
    setUnderWay(false);
    if (typeof found === "string") {
      return found;
    }
    onRates(found);
    return null;
  };
  return rows.length === 0 ? null : (
    <p class="row">
      <Act verb="trace" run={run}>
        How much each row matches
      </Act>
      {isUnderWay ? <small role="status">counted for 2 s…</small> : rates !== null && <small role="status">of <Num text={whole(rates.packets)} /> packets that passed</small>}
    </p>
  );
}
