import type { Reading } from "../../heat/heat_answer";
import { readingKind, readingNumbers, readingSays } from "../../heat/heat_reading";
import { Num } from "../../parts/num";
import { Text } from "../../parts/text";

/** What the maps look like, in a sentence, and the numbers that led to it. */
export function ReadingLine({ reading }: { reading: Reading | null }) {
  if (reading === null || reading.kind === "none") {
    return null;
  }
  const kind = readingKind(reading);
  const numbers = readingNumbers(reading);
  return (
    <div class="reading">
      <p>
        {kind !== null && <strong>{kind}. </strong>}
        <span class="num"><Text of={readingSays(reading)} most={600} /></span>
      </p>
      {numbers.length > 0 && (
        <details>
          <summary>The numbers behind it</summary>
          <dl class="box">
            {numbers.map(({ label, text, raw }) => (
              <>
                <dt><Text of={label} most={60} /></dt>
                <dd>{text === null ? <Text of={raw} /> : <Num text={text} />}</dd>
              </>
            ))}
          </dl>
        </details>
      )}
    </div>
  );
}
