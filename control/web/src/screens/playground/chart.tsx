import { useEffect, useRef, useState } from "preact/hooks";

import { isDark } from "../../frame/colours";
import type { SimulatedRun } from "./answer";
import { LANE, marksOf, stateLines, ticksOf, type Fate, type Mark } from "./marks";

const SIDE = 12; // px beside the drawing, so that marks at its ends are whole
const STATE = 90;
const AXIS = 20;

type Ink = (variable: string) => string;

function inkOf(canvas: HTMLCanvasElement): Ink {
  const colours = getComputedStyle(canvas);
  return (variable) => colours.getPropertyValue(variable).trim() || "gray";
}

function outline(pen: CanvasRenderingContext2D, { fate, x, y, size }: Mark): void {
  pen.beginPath();
  switch (fate.shape) {
    case "disc":
      pen.arc(x, y, size, 0, 2 * Math.PI);
      break;
    case "diamond":
      pen.moveTo(x, y - size * 1.3);
      pen.lineTo(x + size * 1.3, y);
      pen.lineTo(x, y + size * 1.3);
      pen.lineTo(x - size * 1.3, y);
      pen.closePath();
      break;
    case "triangle":
      pen.moveTo(x - size, y - size);
      pen.lineTo(x + size * 1.3, y);
      pen.lineTo(x - size, y + size);
      pen.closePath();
      break;
    case "cross":
      pen.moveTo(x - size, y - size);
      pen.lineTo(x + size, y + size);
      pen.moveTo(x - size, y + size);
      pen.lineTo(x + size, y - size);
      break;
    case "square":
      pen.rect(x - size, y - size, 2 * size, 2 * size);
  }
}

function drawMark(pen: CanvasRenderingContext2D, mark: Mark, ink: Ink): void {
  pen.strokeStyle = pen.fillStyle = ink(mark.fate.colour);
  pen.lineWidth = mark.fate.shape === "cross" ? 2 : 1.3;
  if (mark.until !== null && mark.until > mark.x + 1) {
    pen.globalAlpha = 0.5;
    pen.beginPath();
    pen.moveTo(mark.x, mark.y);
    pen.lineTo(mark.until, mark.y);
    pen.stroke();
    pen.globalAlpha = 1;
  }
  outline(pen, mark);
  if (mark.fate.shape === "disc") {
    pen.fill();
  } else {
    pen.stroke();
  }
}

function drawLine(pen: CanvasRenderingContext2D, points: [number, number][]): void {
  pen.beginPath();
  points.forEach(([x, y], at) => (at === 0 ? pen.moveTo(x, y) : pen.lineTo(x, y)));
}

function drawState(pen: CanvasRenderingContext2D, run: SimulatedRun, width: number, end: number, ink: Ink): void {
  const { left, least } = stateLines(run.state, width, STATE, end);
  const last = least[least.length - 1];
  pen.fillStyle = ink("--passed");
  pen.globalAlpha = 0.18;
  drawLine(pen, least);
  pen.lineTo(last?.[0] ?? 0, STATE);
  pen.lineTo(0, STATE);
  pen.closePath();
  pen.fill();
  pen.globalAlpha = 1;
  pen.strokeStyle = ink("--passed");
  pen.lineWidth = 1.5;
  // A column begins with one number, and goes down to another.
  drawLine(pen, left.flatMap((point, at) => [point, [point[0], least[at]?.[1] ?? point[1]] as [number, number]]));
  pen.stroke();
  pen.strokeStyle = ink("--line");
  pen.lineWidth = 1;
  pen.strokeRect(0, 0, width, STATE);
}

function drawTicks(pen: CanvasRenderingContext2D, width: number, height: number, end: number, ink: Ink): void {
  pen.font = "12px system-ui, sans-serif";
  pen.fillStyle = ink("--quiet");
  pen.strokeStyle = ink("--line");
  pen.lineWidth = 1;
  for (const { x, text } of ticksOf(end, width)) {
    drawLine(pen, [[x, 0], [x, height]]);
    pen.stroke();
    pen.textAlign = x < 20 ? "left" : x > width - 20 ? "right" : "center";
    pen.fillText(text, x, height + 14);
  }
}

interface Drawing {
  run: SimulatedRun;
  lanes: readonly Fate[];
  end: number;
}

function draw(canvas: HTMLCanvasElement, { run, lanes, end }: Drawing, wide: number): void {
  const pen = canvas.getContext("2d");
  if (pen === null) {
    return;
  }
  const dots = LANE * lanes.length;
  const height = dots + STATE + AXIS + 8;
  const scale = devicePixelRatio || 1;
  canvas.width = Math.round(wide * scale);
  canvas.height = Math.round(height * scale);
  canvas.style.height = `${height}px`;
  const ink = inkOf(canvas);
  const width = Math.max(1, wide - 2 * SIDE);
  pen.setTransform(scale, 0, 0, scale, SIDE * scale, 0);
  drawTicks(pen, width, dots + 8 + STATE, end, ink);
  marksOf(run.dots, lanes, width, end).forEach((mark) => drawMark(pen, mark, ink));
  pen.translate(0, dots + 8);
  drawState(pen, run, width, end, ink);
}

/** Arrivals, and below them what the limit has left, over one time; drawn anew with colours and width. */
export function Chart({ run, lanes, end, says }: Drawing & { says: string }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const [width, setWidth] = useState(0);
  const dark = isDark.value;
  useEffect(() => {
    if (canvas.current === null) {
      return undefined;
    }
    const watched = canvas.current;
    const seen = new ResizeObserver(() => setWidth(watched.clientWidth));
    seen.observe(watched);
    return () => seen.disconnect();
  }, []);
  useEffect(() => {
    if (canvas.current !== null && width > 0) {
      draw(canvas.current, { run, lanes, end }, width);
    }
  }, [run, lanes, end, width, dark]);
  return <canvas ref={canvas} class="run-chart" role="img" aria-label={says} />;
}
