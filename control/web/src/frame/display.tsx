import { setZone, who, zone, zoneChoice, type ZoneChoice } from "../page";
import { zoneName } from "../text/time";
import { colours, setColours, type Colours } from "./colours";

const ZONES: Record<ZoneChoice, string> = { utc: "UTC", box: "the box's", local: "this browser's" };
const COLOURS: Record<Colours, string> = { system: "as the system", light: "light", dark: "dark" };

/** How instants and colours stand on the page, kept by the browser. */
export function Display() {
  const offset = zoneChoice.value === "utc" ? "" : ` (${zoneName(zone.value, new Date())})`;
  const isUnknown = zoneChoice.value === "box" && who.value !== null && zone.value === "utc";
  return (
    <div class="display">
      <label>
        Time{" "}
        <select class="zone" value={zoneChoice.value} onChange={(event) => setZone(event.currentTarget.value as ZoneChoice)}>
          {Object.entries(ZONES).map(([value, text]) => (
            <option value={value}>{value === zoneChoice.value ? `${text}${offset}` : text}</option>
          ))}
        </select>
        {isUnknown && <small> the box does not say</small>}
      </label>
      <label>
        Colours{" "}
        <select class="colours" value={colours.value} onChange={(event) => setColours(event.currentTarget.value as Colours)}>
          {Object.entries(COLOURS).map(([value, text]) => (
            <option value={value}>{text}</option>
          ))}
        </select>
      </label>
    </div>
  );
}
