import { hunks, lineDiff } from "../text/line_diff";
import { Scroll } from "./panel";
import { Text } from "./text";

const MARKS = { same: " ", in: "+", out: "−" };
const NAMES = { same: "", in: "new: ", out: "gone: " };

/** How a text changes, line by line: marks beside the colours. */
export function LineDiff({ before, after, label }: { before: string; after: string; label: string }) {
  return (
    <Scroll label={label}>
      <ol class="diff">
        {hunks(lineDiff(before, after)).map((line) =>
          line === null ? (
            <li class="gap">…</li>
          ) : (
            <li class={line.kind}>
              <span aria-hidden="true">{MARKS[line.kind]} </span>
              <span class="unseen">{NAMES[line.kind]}</span>
              <Text of={line.text} most={400} />
            </li>
          ),
        )}
      </ol>
    </Scroll>
  );
}
