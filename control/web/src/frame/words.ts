import { known } from "../text/known";
import type { BoxState, LiveAnswer } from "../transport/answers";

// The state of the box, in a word and in a sentence.
interface StateWords {
  word: string;
  says: string;
  grave: boolean;
}
export const STATE_WORDS: Record<BoxState, StateWords> = {
  judging: { word: "judging", says: "Packets are judged by the rules.", grave: false },
  panic: { word: "panic", says: "Nothing is judged, as somebody has said panic.", grave: true },
  no_rules: { word: "no rules", says: "There are no rules: all that comes passes.", grave: true },
  no_dataplane: { word: "no dataplane", says: "sluiced is not connected to the dataplane.", grave: true },
  bridged: { word: "bridged", says: "The kernel forwards frames; nothing is judged.", grave: true },
};

export function stateWords(state: string): StateWords {
  return known(STATE_WORDS, state) ?? { word: state, says: `The box says: ${state}.`, grave: true };
}

/** True while a dataplane answers: the kernel may bridge with one, and without. */
export function hasDataplane(answer: LiveAnswer): boolean {
  return answer.box.generation !== null;
}

/** Why there are no rates. */
export function whyNoRates(answer: LiveAnswer): string {
  if (!hasDataplane(answer)) {
    return "Nobody counts: sluiced is not connected to the dataplane.";
  }
  return "Rates want two snapshots within three seconds: sluiced or the dataplane has just begun, or was held up.";
}
