import type { ComponentChildren, Ref } from "preact";
import { useEffect, useRef, useState } from "preact/hooks";

import { leaveOpen } from "./unadded";

// Boxes of the form. They show what stands in the text, and change it there as they are left or turned.
interface BoxProps {
  label: string;
  value: string;
  onSet(value: string): void;
  size?: number;
  list?: string;
  isFixed?: boolean;
  at?: Ref<HTMLInputElement>;
}

export function Box({ label, value, onSet, size = 10, list, isFixed = false, at }: BoxProps) {
  return (
    <input type="text" aria-label={label} title={label} value={value} size={size} readOnly={isFixed} maxLength={4096} spellcheck={false} autocomplete="off"
      {...(list === undefined ? {} : { list })} {...(at === undefined ? {} : { ref: at })} onInput={(event) => onSet(event.currentTarget.value)} />
  );
}

interface NumberProps extends BoxProps {
  wants: string; // what it is a box of, and how that is written
  isWhole(text: string): boolean;
}

/** A box of a number: what is empty or half typed stays in the box, and waits there to become one. */
export function NumberBox({ wants, isWhole, ...box }: NumberProps) {
  const [typed, setTyped] = useState<string | null>(null);
  const at = useRef<HTMLInputElement>(null);
  useEffect(() => {
    if (document.activeElement !== at.current) {
      setTyped(null); // another value came from elsewhere
    }
  }, [box.value]);
  useEffect(() => leaveOpen(box.label, typed === null ? null : `${box.label.toLowerCase()}: ${wants}`), [typed]);
  useEffect(() => () => leaveOpen(box.label, null), []);
  const take = (text: string): void => {
    const isDone = isWhole(text);
    setTyped(isDone ? null : text);
    if (isDone) {
      box.onSet(text.trim());
    }
  };
  return (
    <>
      <Box {...box} at={at} value={typed ?? box.value} onSet={take} />
      {typed !== null && <small class="waits" role="status"> {wants}</small>}
    </>
  );
}

export function Choice({ label, value, words, onSet }: { label: string; value: string; words: readonly (string | [string, string])[]; onSet(word: string): void }) {
  const rows = words.map((word): [string, string] => (typeof word === "string" ? [word, word] : word));
  const isKnown = rows.some(([word]) => word === value);
  return (
    <select aria-label={label} title={label} value={value} onChange={(event) => onSet(event.currentTarget.value)}>
      {!isKnown && <option value={value}>{value.slice(0, 40)}</option>}
      {rows.map(([word, name]) => (
        <option value={word} selected={word === value}>
          {name}
        </option>
      ))}
    </select>
  );
}

export function Offers({ id, words }: { id: string; words: readonly string[] }) {
  return (
    <datalist id={id}>
      {words.slice(0, 64).map((word) => (
        <option value={word} />
      ))}
    </datalist>
  );
}

/** What the form cannot show, and where it stands instead. */
export function InText({ children }: { children: ComponentChildren }) {
  return <p class="in-text">{children}</p>;
}
