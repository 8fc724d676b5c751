import { isNumber } from "../text/number";

/** Numbers as the path of an SVG of this size; a gap where there is none. "": there is nothing to draw. */
export function sparkPath(values: (number | null)[], width: number, height: number): string {
  const most = Math.max(0, ...values.filter(isNumber));
  const step = values.length > 1 ? width / (values.length - 1) : 0;
  let path = "";
  let drawing = false;
  values.forEach((value, at) => {
    if (!isNumber(value)) {
      drawing = false;
      return;
    }
    const y = most > 0 ? height - (value / most) * height : height;
    path += `${drawing ? "L" : "M"}${(at * step).toFixed(1)} ${y.toFixed(1)}`;
    drawing = true;
  });
  return path;
}
