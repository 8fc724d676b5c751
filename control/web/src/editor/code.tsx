import { useEffect, useRef, useState } from "preact/hooks";

import { Text } from "../parts/text";
import type { Editor } from "./editor";
import type { TextProblem } from "./problems";
import { NO_WORDS, type Words } from "./words";

interface CodeProps {
  label: string;
  text: string;
  problems: readonly TextProblem[];
  words?: Words;
  isFixed?: boolean;
  line?: number | null; // to go to, once
  ruleOf?(problem: TextProblem): string | null; // of a problem that is not in this text
  onChange?(text: string): void;
}

const SMALL = "(max-width: 40rem), (pointer: coarse)";

/** Text of rules with its problems at their lines; a plain box on phones, and where the editor cannot be loaded. */
export function Code({ label, text, problems, words = NO_WORDS, isFixed = false, line = null, ruleOf, onChange }: CodeProps) {
  const [failure, setFailure] = useState<string | null>(null);
  const isPlain = failure !== null || matchMedia(SMALL).matches;
  const host = useRef<HTMLDivElement>(null);
  const box = useRef<HTMLTextAreaElement>(null);
  const editor = useRef<Editor | null>(null);
  const now = useRef({ text, words, onChange, problems, line });
  now.current = { text, words, onChange, problems, line };
  useEffect(() => {
    const place = host.current;
    if (isPlain || place === null) {
      return;
    }
    let isOver = false;
    import("./editor").then(
      ({ mountEditor }) => {
        if (!isOver) {
          const onTyped = (next: string): void => now.current.onChange?.(next);
          editor.current = mountEditor(place, { text: now.current.text, label, isFixed, words: () => now.current.words, onChange: onTyped });
          editor.current.setProblems(now.current.problems.filter(({ file }) => file === null));
          goTo(now.current.line);
        }
      },
      () => setFailure("The editor could not be loaded; this box does without its colours and offers."),
    );
    return () => {
      isOver = true;
      editor.current?.end();
      editor.current = null;
    };
  }, [isPlain, isFixed, label]);
  useEffect(() => {
    editor.current?.setText(text);
    editor.current?.setProblems(problems.filter(({ file }) => file === null));
  }, [text, problems]);
  const goTo = (line: number | null): void => {
    if (line === null) {
      return;
    }
    editor.current?.goTo(line);
    if (box.current !== null) {
      const begin = text.split("\n").slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
      box.current.focus();
      box.current.setSelectionRange(begin, begin);
    }
  };
  useEffect(() => goTo(line), [line]);
  return (
    <div class="code">
      {failure !== null && <p class="empty">{failure}</p>}
      {isPlain ? (
        <textarea ref={box} aria-label={label} spellcheck={false} readOnly={isFixed} rows={Math.min(24, text.split("\n").length + 2)}
          value={text} onInput={(event) => onChange?.(event.currentTarget.value)} />
      ) : (
        <div ref={host} class="editor" />
      )}
      <ProblemList problems={problems} goTo={goTo} rules={ruleOf} />
    </div>
  );
}

type RuleOf = ((problem: TextProblem) => string | null) | undefined;

function ProblemList({ problems, goTo, rules }: { problems: readonly TextProblem[]; goTo(line: number): void; rules: RuleOf }) {
  return (
    <ul class="text-problems" aria-live="polite">
      {problems.map((one) => (
        <li class={one.severity}>
          {one.file === null ? (
            <button type="button" class="jump" onClick={() => goTo(one.line)}>
              Line {one.line}
            </button>
          ) : (
            <span class="elsewhere">
              {rules === undefined || rules(one) === null ? "Elsewhere" : <>Rule <Text of={rules(one)} most={80} /></>}, <Text of={one.file} most={80} /> line {one.line}:
            </span>
          )}{" "}
          <strong>{one.severity === "error" ? "Error" : "Warning"}</strong> <Text of={one.text} most={400} />
          {one.hint !== null && (
            <small>
              {" "}
              <Text of={one.hint} most={300} />
            </small>
          )}
        </li>
      ))}
    </ul>
  );
}
