import { listOf, membersOf, numberOf, textOf } from "../../parts/members";
import { reasonOf, type Reply } from "../../transport/send";

// A preview under way: what the draft would do to the traffic of the next seconds. It ends with the page: sluiced cancels what
// nobody asks for. Pure but for what it is given.
export interface PreviewAnswer {
  state: string;
  secondsDone: number | null;
  says: string | null;
  groups: number | null;
  oneIn: number | null;
  refusedGroups: number | null;
  share: number | null;
  worst: { key: string; offered: number | null; refused: number | null }[];
  unseen: string[];
  leftOut: number | null;
  problem: string | null;
  body: unknown;
}

export function previewOf(body: unknown): PreviewAnswer {
  const answer = membersOf(body);
  const refused = membersOf(answer["would_refuse"]);
  return {
    state: textOf(answer["state"]) ?? "failed",
    secondsDone: numberOf(answer["seconds_done"]),
    says: textOf(answer["says"]),
    groups: numberOf(answer["groups"]),
    oneIn: numberOf(answer["one_in"]),
    refusedGroups: numberOf(refused["groups"]),
    share: numberOf(refused["share"]),
    worst: listOf(answer["worst"]).map(membersOf).map((row) => ({ key: textOf(row["key"]) ?? "?", offered: numberOf(row["offered"]), refused: numberOf(row["refused"]) })),
    unseen: listOf(answer["unseen"]).filter((one): one is string => typeof one === "string"),
    leftOut: numberOf(answer["left_out"]),
    problem: textOf(answer["problem"]),
    body,
  };
}

export type AskPreview = (method: "GET" | "POST" | "DELETE", path: string, body?: unknown) => Promise<Reply>;
const MOST_FAILURES = 5;

export class Previewing {
  private id: string | null = null;
  private isOver = false;

  constructor(
    private readonly ask: AskPreview,
    private readonly show: (answer: PreviewAnswer) => void,
    private readonly rest: (ms: number) => Promise<void>,
  ) {}

  /** Until it is done; -> why it is not. */
  async run(query: string, text: string, seconds: number): Promise<string | null> {
    const begun = await this.ask("POST", `/v1/preview${query === "" ? "" : `?${query}`}`, { text, seconds });
    const id = membersOf(begun.body)["preview"];
    if (begun.status !== 201 || (typeof id !== "string" && typeof id !== "number")) {
      return reasonOf(begun);
    }
    this.id = String(id);
    if (this.isOver) {
      this.cancel();
      return null;
    }
    return this.follow(`/v1/preview/${encodeURIComponent(this.id)}`);
  }

  private async follow(path: string): Promise<string | null> {
    for (let failures = 0; !this.isOver && failures < MOST_FAILURES; ) {
      const reply = await this.ask("GET", `${path}?wait=2`);
      if (this.isOver) {
        return null;
      }
      if (reply.status !== 200) {
        failures += 1;
        if (reply.status === 404 || failures === MOST_FAILURES) {
          return reasonOf(reply);
        }
        await this.rest(1000);
        continue;
      }
      failures = 0;
      const answer = previewOf(reply.body);
      this.show(answer);
      if (answer.state !== "running") {
        this.id = null;
        return answer.state === "failed" ? (answer.problem ?? "it has failed") : null;
      }
      await this.rest(250);
    }
    return null;
  }

  cancel(): void {
    this.isOver = true;
    if (this.id !== null) {
      void this.ask("DELETE", `/v1/preview/${encodeURIComponent(this.id)}`);
      this.id = null;
    }
  }
}
