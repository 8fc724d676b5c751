import assert from "node:assert/strict";
import test from "node:test";

import { colourOf, luminance, paletteOf, type Colour } from "../../../../../control/web/src/heat/heat_colours";
import { legendOf, LEVELS, percentile, scaleOf } from "../../../../../control/web/src/heat/heat_scale";

test("a percentile is the value that so many are not above", () => {
  const values = Array.from({ length: 100 }, (_, at) => 100 - at);
  assert.deepEqual([percentile(values, 0.99), percentile(values, 0.5), percentile([7], 0.99), percentile([], 0.99)], [99, 50, 7, 0]);
});

test("no group has no colour, one has the first, and more never a lighter one", () => {
  const scale = scaleOf([1, 10, 100, 1000]);
  const levels = [0, 1, 2, 10, 100, 999, 1000, 1e9].map((groups) => scale.level(groups));
  assert.equal(levels[0], 0);
  assert.ok(levels[1]! >= 1);
  assert.deepEqual(levels, [...levels].sort((a, b) => a - b));
  assert.deepEqual(levels.slice(-2), [LEVELS, LEVELS]);
});

test("one cell of a million does not wash out the others: the scale ends at the 99th percentile", () => {
  const scale = scaleOf([...Array.from({ length: 999 }, () => 100), 1e6]);
  assert.equal(scale.clamp, 100);
  assert.equal(scale.level(100), LEVELS);
});

test("a scale of nothing has a level for what comes", () => {
  assert.deepEqual([scaleOf([]).level(0), scaleOf([]).level(1), scaleOf([1]).level(1)], [0, LEVELS, LEVELS]);
});

test("the legend ascends from one to the clamp", () => {
  assert.deepEqual(legendOf(scaleOf([40_000])), [1, 100, 10_000, 40_000]);
  assert.deepEqual(legendOf(scaleOf([1])), [1]);
  assert.deepEqual(legendOf(scaleOf([50])), [1, 10, 50]);
});

// As a grey printer, and as an eye without one of the three kinds of cones sees it (Machado, Oliveira, Fernandes 2009).
const EYES: Readonly<Record<string, number[][]>> = {
  protan: [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216], [-0.003882, -0.048116, 1.051998]],
  deutan: [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413], [-0.01182, 0.04294, 0.968881]],
  tritan: [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602], [0.004733, 0.691367, 0.3039]],
};

function seenBy(eye: number[][], colour: Colour): Colour {
  const linear = colour.map((value) => (value / 255) ** 2.2);
  const seen = eye.map((row) => row.reduce((sum, part, at) => sum + part * linear[at]!, 0));
  return seen.map((value) => 255 * Math.max(0, Math.min(1, value)) ** (1 / 2.2)) as unknown as Colour;
}

test("the ramp goes away from the background step by step, in grey and for every eye", () => {
  for (const dark of [false, true]) {
    const palette = paletteOf(dark);
    const away = (colour: Colour): number => (dark ? 1 : -1) * luminance(colour);
    for (const [eye, matrix] of [["whole", null] as const, ...Object.entries(EYES)]) {
      const seen = [palette.background, ...palette.ramp].map((colour) => (matrix === null ? colour : seenBy(matrix, colour)));
      for (let at = 1; at < seen.length; at += 1) {
        assert.ok(away(seen[at]!) > away(seen[at - 1]!), `${eye}, dark ${dark}, level ${at}`);
      }
    }
  }
});

test("one group can be told from none, and the darkest cell from one", () => {
  for (const dark of [false, true]) {
    const palette = paletteOf(dark);
    const contrast = (a: Colour, b: Colour): number => {
      const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
      return (high! + 0.05) / (low! + 0.05);
    };
    assert.ok(contrast(colourOf(palette, 0), colourOf(palette, 1)) > 1.25, `dark ${dark}`);
    assert.ok(contrast(colourOf(palette, 1), colourOf(palette, LEVELS)) > 7, `dark ${dark}`);
    assert.ok(contrast(palette.background, palette.hatch) > 1.5, `dark ${dark}`);
  }
});
