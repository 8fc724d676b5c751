import { autocompletion, completionKeymap, type CompletionContext, type CompletionResult } from "@codemirror/autocomplete";
import { history, historyKeymap, insertNewlineAndIndent } from "@codemirror/commands";
import { yaml } from "@codemirror/lang-yaml";
import { HighlightStyle, syntaxHighlighting } from "@codemirror/language";
import { setDiagnostics, type Diagnostic } from "@codemirror/lint";
import { Compartment, EditorState, type Extension } from "@codemirror/state";
import { EditorView, highlightActiveLine, keymap, lineNumbers } from "@codemirror/view";
import { tags } from "@lezer/highlight";

import { rangeOf, type TextProblem } from "./problems";
import { offersAt, type Words } from "./words";

// CodeMirror, in a chunk of its own. It lives in a shadow root, where its styles are sheets that scripts adopt: the page's
// policy (`style-src 'self'`) refuses tags of style. Escape, then Tab leaves it: Tab never indents.
export interface EditorOptions {
  text: string;
  label: string;
  isFixed: boolean; // to be read alone
  words(): Words;
  onChange(text: string): void;
}
export interface Editor {
  setText(text: string): void;
  setProblems(problems: readonly TextProblem[]): void;
  goTo(line: number): void;
  end(): void;
}

const THEME = EditorView.theme({
  "&": { backgroundColor: "var(--paper)", color: "var(--ink)", border: "1px solid var(--quiet)", borderRadius: "4px", maxHeight: "70vh" },
  "&.cm-focused": { outline: "3px solid var(--accent)" },
  ".cm-scroller": { fontFamily: "ui-monospace, 'Liberation Mono', monospace", fontSize: "0.92rem", overflow: "auto" },
  ".cm-content": { caretColor: "var(--ink)", minHeight: "8rem" },
  ".cm-gutters": { backgroundColor: "var(--ground)", color: "var(--quiet)", border: "0" },
  ".cm-activeLine": { backgroundColor: "transparent" },
  "&.cm-focused .cm-activeLine": { backgroundColor: "var(--ground)" },
  ".cm-cursor": { borderLeftColor: "var(--ink)" },
  "&.cm-focused .cm-selectionBackground, .cm-selectionBackground": { background: "var(--hatch)" },
  ".cm-tooltip": { backgroundColor: "var(--paper)", color: "var(--ink)", border: "1px solid var(--quiet)" },
  ".cm-tooltip-autocomplete ul li[aria-selected]": { backgroundColor: "var(--accent)", color: "var(--paper)" },
  ".cm-completionDetail": { fontStyle: "normal", opacity: "0.8" },
  // CodeMirror's own marks are pictures in the style sheet, which the policy refuses.
  ".cm-lintRange-error": { backgroundImage: "none", textDecoration: "underline wavy var(--grave) 2px" },
  ".cm-lintRange-warning": { backgroundImage: "none", textDecoration: "underline dotted var(--would-refuse) 2px" },
  ".cm-lintRange-active": { backgroundColor: "var(--grave-paper)" },
  ".cm-lintPoint:after": { borderBottomColor: "var(--grave)" },
  ".cm-diagnostic": { borderLeftColor: "var(--grave)", whiteSpace: "pre-wrap" },
  ".cm-diagnostic-warning": { borderLeftColor: "var(--would-refuse)" },
});
const HIGHLIGHT = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: "var(--accent)" },
  { tag: [tags.string, tags.content], color: "var(--ink)" },
  { tag: [tags.number, tags.bool, tags.null], color: "var(--passed)" },
  { tag: [tags.comment, tags.lineComment], color: "var(--quiet)", fontStyle: "italic" },
  { tag: [tags.punctuation, tags.separator, tags.bracket], color: "var(--quiet)" },
]);

function diagnosticsOf(text: string, problems: readonly TextProblem[]): Diagnostic[] {
  return problems.map((problem) => ({
    ...rangeOf(text, problem),
    severity: problem.severity,
    message: problem.hint === null ? problem.text : `${problem.text}\n${problem.hint}`,
  }));
}

function completions(options: EditorOptions): (context: CompletionContext) => CompletionResult | null {
  return (context) => {
    const found = offersAt(context.state.doc.toString(), context.pos, options.words());
    if (found === null || (!context.explicit && found.from === context.pos)) {
      return null;
    }
    return {
      from: found.from,
      options: found.offers.map((one) => ({ label: one.label, detail: one.says.slice(0, 80), type: one.kind === "value" ? "constant" : "property" })),
      validFor: /^[\w.]*$/,
    };
  };
}

export function mountEditor(host: HTMLElement, options: EditorOptions): Editor {
  const root = host.shadowRoot ?? host.attachShadow({ mode: "open" });
  root.replaceChildren();
  const writable = new Compartment();
  let isOwnChange = false;
  const extensions: Extension[] = [
    lineNumbers(),
    history(),
    highlightActiveLine(),
    EditorView.lineWrapping,
    yaml(),
    syntaxHighlighting(HIGHLIGHT),
    autocompletion({ override: [completions(options)], icons: false }),
    keymap.of([...completionKeymap, { key: "Enter", run: insertNewlineAndIndent }, ...historyKeymap]),
    writable.of([EditorState.readOnly.of(options.isFixed)]),
    EditorView.contentAttributes.of({ "aria-label": options.label }),
    EditorView.updateListener.of((update) => {
      if (update.docChanged && !isOwnChange) {
        options.onChange(update.state.doc.toString());
      }
    }),
    THEME,
  ];
  const view = new EditorView({ state: EditorState.create({ doc: options.text, extensions }), parent: root, root });
  return {
    setText(text) {
      const old = view.state.doc.toString();
      if (old === text) {
        return;
      }
      isOwnChange = true;
      view.dispatch({ changes: changeBetween(old, text) });
      isOwnChange = false;
    },
    setProblems: (problems) => view.dispatch(setDiagnostics(view.state, diagnosticsOf(view.state.doc.toString(), problems))),
    goTo(line) {
      const at = view.state.doc.line(Math.min(Math.max(1, line), view.state.doc.lines));
      view.dispatch({ selection: { anchor: at.from }, scrollIntoView: true });
      view.focus();
    },
    end: () => view.destroy(),
  };
}

/** The least change, so that the cursor stays where it stood. */
function changeBetween(old: string, next: string): { from: number; to: number; insert: string } {
  let same = 0;
  while (same < old.length && same < next.length && old[same] === next[same]) {
    same += 1;
  }
  let tail = 0;
  while (tail < old.length - same && tail < next.length - same && old[old.length - 1 - tail] === next[next.length - 1 - tail]) {
    tail += 1;
  }
  return { from: same, to: old.length - tail, insert: next.slice(same, next.length - tail) };
}
