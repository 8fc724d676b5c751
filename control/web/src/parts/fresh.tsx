import type { ComponentChildren } from "preact";

import { STALE_MS, ticks, zone } from "../page";
import { instantText, spanText } from "../text/time";
import { Text } from "./text";

interface Props {
  arrived: number | null; // ticks of the last answer; null: none has come
  trouble: string | null; // why there is no newer one, if somebody knows
  every?: number; // ms between two that are asked for
  children: ComponentChildren;
}

/** Numbers of a screen's own poll: they look old 3 s after the next one should have come. */
export function Fresh({ arrived, trouble, every = 0, children }: Props) {
  const age = arrived === null ? null : Math.max(0, ticks.value - arrived);
  const isOld = age !== null && age > STALE_MS + (trouble === null ? every : 0);
  return (
    <div class={isOld ? "fresh stale" : "fresh"}>
      {isOld && (
        <p class="age old" role="alert">
          <strong>Old.</strong> These numbers are of {instantText(Date.now() - age, zone.value, Date.now())}, {spanText(age / 1000)} ago.{" "}
          <Text of={trouble === null ? "No newer answer has come." : `${trouble}.`} most={300} />
        </p>
      )}
      {children}
    </div>
  );
}
