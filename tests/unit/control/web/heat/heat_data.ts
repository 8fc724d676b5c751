import { heatAnswerOf, type HeatAnswer } from "../../../../../control/web/src/heat/heat_answer";

// An answer as sluiced has it: three columns of 10 s, of which one has no data.
export const RAW = {
  rule: "web", generation: "g", map: "on", limit: 0, step_s: 10, from: "2026-11-30T07:00:00Z", to: "2026-11-30T07:00:30Z", steps: [10, 60],
  limits: [{ index: 0, text: "300 requests per minute", unit: "requests", most: 300, window_s: 10, tier: null }],
  offered_edges: [0, ...Array.from({ length: 80 }, (_, at) => 2 ** (at / 2))],
  left_edges: [0, ...Array.from({ length: 16 }, (_, at) => at / 16), 1],
  limit_bucket: 17,
  columns: [
    { at: "2026-11-30T07:00:00Z", one_in: 256, groups: 51_000, error: 0.02, left_out: 0, offered: [[1, 40_000], [17, 3]], left: [[0, 5], [17, 50_000]] },
    null,
    { at: "2026-11-30T07:00:20Z", one_in: 1, groups: 10, error: null, left_out: 0, offered: [[5, 10]], left: [[16, 10]] },
  ] as unknown[],
  reading: { kind: "typical", says: "as ever", numbers: { z: 0.002 } },
  why_empty: null,
};

export function answered(more: object = {}): HeatAnswer {
  const answer = heatAnswerOf({ ...RAW, ...more });
  if (answer === null) {
    throw new Error("no answer");
  }
  return answer;
}
