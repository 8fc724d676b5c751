import { colourOf, type Colour, type Palette } from "./heat_colours";
import { edgeOf, type HeatGrid } from "./heat_grid";
import type { HeatScale } from "./heat_scale";

// The cells of a map as pixels of an image, row by row from above.
const HATCH = 8; // pixels from one stripe to the next
const STRIPE = 2;

interface Box {
  left: number;
  right: number;
  top: number;
  bottom: number;
}

// Four bytes as the number that a little-endian machine writes them by.
function packed([red, green, blue]: Colour): number {
  return ((255 << 24) | (blue << 16) | (green << 8) | red) >>> 0;
}

/** Stripes stand for no data; the background is no group. */
export function isStripe(x: number, y: number): boolean {
  return (x + y) % HATCH < STRIPE;
}

export function cellBox(grid: HeatGrid, column: number, row: number, size: { width: number; height: number }): Box {
  const rows = grid.rows.length;
  return {
    left: edgeOf(column, grid.columns, size.width),
    right: edgeOf(column + 1, grid.columns, size.width),
    top: edgeOf(rows - 1 - row, rows, size.height),
    bottom: edgeOf(rows - row, rows, size.height),
  };
}

function hatch(pixels: Uint32Array, width: number, box: Box, palette: Palette): void {
  const [stripe, ground] = [packed(palette.hatch), packed(palette.background)];
  for (let y = box.top; y < box.bottom; y += 1) {
    for (let x = box.left; x < box.right; x += 1) {
      pixels[y * width + x] = isStripe(x, y) ? stripe : ground;
    }
  }
}

export function paint(grid: HeatGrid, scale: HeatScale, palette: Palette, size: { width: number; height: number }): Uint8ClampedArray<ArrayBuffer> {
  const bytes = new ArrayBuffer(size.width * size.height * 4);
  const pixels = new Uint32Array(bytes);
  for (let column = 0; column < grid.columns; column += 1) {
    for (let row = 0; row < grid.rows.length; row += 1) {
      const groups = grid.groups(column, row);
      const box = cellBox(grid, column, row, size);
      if (groups === null) {
        hatch(pixels, size.width, box, palette);
        continue;
      }
      const colour = packed(colourOf(palette, scale.level(groups)));
      for (let y = box.top; y < box.bottom; y += 1) {
        pixels.fill(colour, y * size.width + box.left, y * size.width + box.right);
      }
    }
  }
  return new Uint8ClampedArray(bytes);
}
