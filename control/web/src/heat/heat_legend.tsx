import { scaled } from "../text/number";
import { colourOf, cssOf, type Palette } from "./heat_colours";
import { legendOf, type HeatScale } from "./heat_scale";

/** Colours, and how many groups each stands for. */
export function HeatLegend({ scale, palette, by, hasLimit }: { scale: HeatScale; palette: Palette; by: "offered" | "left"; hasLimit: boolean }) {
  const steps = legendOf(scale);
  const swatch = (fill: string) => (
    <svg width="18" height="12" aria-hidden="true">
      <rect width="18" height="12" fill={fill} stroke="currentColor" stroke-width="0.6" />
    </svg>
  );
  return (
    <ul class="legend" aria-label={by === "offered" ? "Groups in a cell, by colour" : "Groups in a cell of this map, by colour"}>
      <li>{swatch(cssOf(palette.background))} none</li>
      {steps.map((groups, at) => (
        <li>
          {swatch(cssOf(colourOf(palette, scale.level(groups))))} {scaled(groups)}
          {at === steps.length - 1 ? " or more" : ""}
        </li>
      ))}
      <li>
        <svg width="18" height="12" aria-hidden="true">
          <rect width="18" height="12" fill={cssOf(palette.background)} stroke="currentColor" stroke-width="0.6" />
          <path d="M0 10L10 0M6 12L18 0M14 12L18 8" stroke={cssOf(palette.hatch)} stroke-width="2" />
        </svg>{" "}
        no data
      </li>
      {hasLimit && (
        <li>
          <svg width="18" height="12" aria-hidden="true">
            <path d="M0 6H18" stroke="currentColor" stroke-width="2" stroke-dasharray="8 4" />
          </svg>{" "}
          the limit
        </li>
      )}
    </ul>
  );
}
