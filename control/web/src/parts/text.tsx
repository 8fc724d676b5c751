import { useState } from "preact/hooks";

import { shortened, visible, type Piece } from "../text/visible";

// Texts that others made: always these components, never a string alone.
function Pieces({ pieces }: { pieces: Piece[] }) {
  return (
    <bdi>
      {pieces.map((piece) => (piece.escaped ? <span class="escape">{piece.text}</span> : piece.text))}
    </bdi>
  );
}

/** A text of others: long ones are cut in the middle until they are clicked. */
export function Text({ of, most = 80 }: { of: unknown; most?: number }) {
  const [whole, setWhole] = useState(false);
  const text = typeof of === "string" ? of : of === null || of === undefined ? "" : JSON.stringify(of);
  const short = shortened(text, most);
  if (short === null) {
    return <Pieces pieces={visible(text)} />;
  }
  return (
    <button type="button" class="cut" aria-expanded={whole} onClick={() => setWhole(!whole)}>
      <Pieces pieces={whole ? visible(text) : short} />
    </button>
  );
}
