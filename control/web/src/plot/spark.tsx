import { sparkPath } from "./spark_path";

const WIDTH = 90;
const HEIGHT = 18;

/** The last minute as a line; numbers stand in the columns beside it. */
export function Spark({ values }: { values: (number | null)[] }) {
  const path = sparkPath(Array.isArray(values) ? values : [], WIDTH, HEIGHT);
  return (
    <svg class="spark" width={WIDTH} height={HEIGHT + 2} viewBox={`0 -1 ${WIDTH} ${HEIGHT + 2}`} aria-hidden="true">
      {path !== "" && <path d={path} />}
    </svg>
  );
}
