import { tenant } from "../../frame/tenant";
import { whyNoRates } from "../../frame/words";
import { poll, series, seriesTrouble } from "../../page";
import { Num } from "../../parts/num";
import { Empty, Panel } from "../../parts/panel";
import { Text } from "../../parts/text";
import { LABELS, RatePlot } from "../../plot/rate_plot";
import { withUnit } from "../../text/number";
import { MEASURES, type LiveAnswer } from "../../transport/answers";
import { BusiestRules, NewestEvents, Ports, Problems } from "./lists";

function Tiles({ answer }: { answer: LiveAnswer }) {
  const { rates } = answer;
  if (rates === null) {
    return <Empty>{whyNoRates(answer)}</Empty>;
  }
  return (
    <ul class="tiles">
      {MEASURES.map((measure) => (
        <li class={measure.replace("_", "-")}>
          <span class="label">{LABELS[measure]}</span>
          <strong>
            <Num text={withUnit(rates[measure]?.pps, "pps")} />
          </strong>
          <Num text={withUnit(rates[measure]?.bps, "bit/s")} />
        </li>
      ))}
    </ul>
  );
}

function Plots() {
  const shown = series.value;
  if (shown === null) {
    return <Empty>The last ten minutes are asked for…</Empty>;
  }
  return (
    <>
      {seriesTrouble.value !== null && (
        <Empty>
          What was before this page is not here: <Text of={seriesTrouble.value} most={300} />. The lines begin now.
        </Empty>
      )}
      <div class="plots">
        <RatePlot title="Packets a second" unit="pps" series={shown} />
        <RatePlot title="Bits a second" unit="bit/s" series={shown} />
      </div>
    </>
  );
}

export function Overview() {
  const shown = poll.shown.value;
  if (shown === null) {
    return <Empty>No snapshot has come yet. One is asked for each second.</Empty>;
  }
  const { answer } = shown;
  if (tenant.value !== null) {
    return <BusiestRules answer={answer} />; // the box, its ports and its problems are the operators'
  }
  return (
    <>
      <Panel title="Traffic">
        <Tiles answer={answer} />
        <Plots />
      </Panel>
      <Problems answer={answer} />
      <BusiestRules answer={answer} />
      <Ports answer={answer} />
      <NewestEvents answer={answer} />
    </>
  );
}
