import { NO_NUMBER } from "../text/number";

/** A number that was measured: it looks old with the page. The text is one of text/number's. */
export function Num({ text }: { text: string }) {
  if (text === NO_NUMBER) {
    return (
      <span class="num none">
        {NO_NUMBER}
        <span class="unseen"> no data</span>
      </span>
    );
  }
  return <span class="num">{text}</span>;
}
