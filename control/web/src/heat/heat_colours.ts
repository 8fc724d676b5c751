import { LEVELS } from "./heat_scale";

// One hue, its lightness monotone over the ramp: it reads the same in grey, and to whoever sees no red or green. More groups are
// further from the background, so that a dark page has the ramp reversed.
export type Colour = readonly [number, number, number]; // sRGB, 0 to 255
export interface Palette {
  background: Colour;
  hatch: Colour;
  ramp: Colour[]; // LEVELS of them; of level 1 the first
}
const HUE = (255 / 180) * Math.PI; // blue, in OKLCH
const LIGHT = { background: [255, 255, 255], hatch: [176, 186, 194], from: 0.9, to: 0.27, chroma: 0.13 } as const;
const DARK = { background: [24, 32, 38], hatch: [74, 88, 98], from: 0.36, to: 0.95, chroma: 0.12 } as const;

function channel(linear: number): number {
  const clipped = Math.min(1, Math.max(0, linear));
  const value = clipped <= 0.0031308 ? 12.92 * clipped : 1.055 * clipped ** (1 / 2.4) - 0.055;
  return Math.round(value * 255);
}

/** OKLCH as sRGB. */
export function rgbOf(lightness: number, chroma: number): Colour {
  const [a, b] = [chroma * Math.cos(HUE), chroma * Math.sin(HUE)];
  const l = (lightness + 0.3963377774 * a + 0.2158037573 * b) ** 3;
  const m = (lightness - 0.1055613458 * a - 0.0638541728 * b) ** 3;
  const s = (lightness - 0.0894841775 * a - 1.291485548 * b) ** 3;
  return [
    channel(4.0767416621 * l - 3.3077115913 * m + 0.2309699292 * s),
    channel(-1.2684380046 * l + 2.6097574011 * m - 0.3413193965 * s),
    channel(-0.0041960863 * l - 0.7034186147 * m + 1.707614701 * s),
  ];
}

/** As bright as the eye finds it (WCAG), 0 to 1. */
export function luminance([red, green, blue]: Colour): number {
  const linear = [red, green, blue].map((value) => {
    const part = value / 255;
    return part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * linear[0]! + 0.7152 * linear[1]! + 0.0722 * linear[2]!;
}

export function paletteOf(dark: boolean): Palette {
  const { background, hatch, from, to, chroma } = dark ? DARK : LIGHT;
  const ramp = Array.from({ length: LEVELS }, (_, at) => {
    const part = at / (LEVELS - 1);
    // Both ends of the lightness have less room for colour.
    return rgbOf(from + (to - from) * part, chroma * (0.45 + 0.55 * Math.sin(Math.PI * (0.15 + 0.7 * part))));
  });
  return { background, hatch, ramp };
}

export function colourOf(palette: Palette, level: number): Colour {
  return level <= 0 ? palette.background : (palette.ramp[Math.min(level, LEVELS) - 1] ?? palette.background);
}

export function cssOf([red, green, blue]: Colour): string {
  return `rgb(${red},${green},${blue})`;
}
