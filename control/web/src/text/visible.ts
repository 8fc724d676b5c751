// Texts of others as they may stand on a page: characters that act instead of being seen come out as escapes: controls,
// those that turn the direction of a text around, separators, and all that takes no room (zero width, fillers, tags).
// The same letters as control/visible_text.cpp, and more of them.
const HIDDEN = /[\p{Cc}\p{Cs}\p{Zl}\p{Zp}\p{Bidi_Control}\p{Default_Ignorable_Code_Point}\u2800\ufff9-\ufffb]/u;
const SHORT: Record<string, string> = { "\n": "\\n", "\r": "\\r", "\t": "\\t" };

export interface Piece {
  text: string;
  escaped: boolean;
}

function escapeOf(letter: string): string {
  const code = letter.codePointAt(0) ?? 0;
  const digits = code.toString(16);
  return SHORT[letter] ?? (code > 0xffff ? `\\u{${digits}}` : `\\u${digits.padStart(4, "0")}`);
}

function lettersOf(text: string): Piece[] {
  return Array.from(text, (letter) =>
    HIDDEN.test(letter) ? { text: escapeOf(letter), escaped: true } : { text: letter, escaped: false },
  );
}

function joined(letters: Piece[]): Piece[] {
  const pieces: Piece[] = [];
  for (const letter of letters) {
    const last = pieces[pieces.length - 1];
    if (last !== undefined && last.escaped === letter.escaped) {
      last.text += letter.text;
    } else {
      pieces.push({ ...letter });
    }
  }
  return pieces;
}

/** All of a text; escapes apart from letters that only look like one. */
export function visible(text: string): Piece[] {
  return HIDDEN.test(text) ? joined(lettersOf(text)) : [{ text, escaped: false }];
}

export function visibleText(text: string): string {
  return visible(text)
    .map((piece) => piece.text)
    .join("");
}

// Letters from one end that fit into so much room.
function fitting(letters: Piece[], room: number): number {
  let used = 0;
  let count = 0;
  for (const letter of letters) {
    used += Array.from(letter.text).length;
    if (used > room) {
      break;
    }
    count += 1;
  }
  return count;
}

/** The same, its middle left out where it takes more than `most` characters; null: it does not. No escape is cut in two. */
export function shortened(text: string, most = 80): Piece[] | null {
  if (text.length <= most && !HIDDEN.test(text)) {
    return null;
  }
  const letters = lettersOf(text);
  if (fitting(letters, most) === letters.length) {
    return null;
  }
  const room = most - 1;
  const before = fitting(letters, Math.ceil(room / 2));
  const behind = fitting([...letters].reverse(), Math.floor(room / 2));
  return [
    ...joined(letters.slice(0, before)),
    { text: "…", escaped: false },
    ...joined(letters.slice(letters.length - behind)),
  ];
}
