import { autocompletion, type CompletionContext, completionKeymap } from '@codemirror/autocomplete';
import {
  copyLineDown,
  deleteLine,
  history,
  historyKeymap,
  moveLineDown,
  moveLineUp,
  standardKeymap,
} from '@codemirror/commands';
import { type Diagnostic, lintGutter, setDiagnostics } from '@codemirror/lint';
import { EditorState, StateEffect, StateField } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  EditorView,
  keymap,
  lineNumbers,
  placeholder as whenEmpty,
} from '@codemirror/view';
import { useEffect, useLayoutEffect, useRef } from 'react';
import type { LineError } from '../machine/program.ts';

/** Whole lines: of the editor's keys those that a program of single instructions needs. */
const lineKeys = [
  { key: 'Alt-ArrowUp', run: moveLineUp },
  { key: 'Alt-ArrowDown', run: moveLineDown },
  { key: 'Shift-Alt-ArrowDown', run: copyLineDown },
  { key: 'Shift-Mod-k', run: deleteLine },
];

const markLine = StateEffect.define<number | null>();

/** The line that the machine has just executed. */
const executedLine = StateField.define<DecorationSet>({
  create: () => Decoration.none,
  update(marks, { effects, docChanged, state }) {
    for (const effect of effects) {
      if (!effect.is(markLine)) continue;
      const { value } = effect;
      if (value === null || value > state.doc.lines) return Decoration.none;
      return Decoration.set([Decoration.line({ class: 'executed' }).range(state.doc.line(value).from)]);
    }
    return docChanged ? Decoration.none : marks;
  },
  provide: field => EditorView.decorations.from(field),
});

export interface EditorProps {
  readonly label: string;
  /** The text that is shown while nothing is written. */
  readonly placeholder: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  readonly errors: readonly (Omit<LineError, 'fault'> & { readonly message: string })[];
  /** Line that was executed last, from 1. */
  readonly line: number | null;
  readonly complete: (before: string) => {
    readonly replace: number;
    readonly options: readonly { readonly label: string; readonly detail: string }[];
  };
}

/** The part of a text that is other than in a later one, without what both begin and end with. */
function changeOf(before: string, after: string): { from: number; to: number; insert: string } {
  const most = Math.min(before.length, after.length);
  let from = 0;
  while (from < most && before[from] === after[from]) from++;
  let end = 0;
  while (end < most - from && before.at(-1 - end) === after.at(-1 - end)) end++;
  return { from, to: before.length - end, insert: after.slice(from, after.length - end) };
}

/**
 * Where a program is written: completion, errors at their place, the executed line marked.
 * @param cursor where the visitor was writing when this took the place of a plain field; null if nowhere.
 */
export default function CodeEditor(props: EditorProps & { readonly cursor: number | null }) {
  const { label, placeholder, value, errors, line } = props;
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const latest = useRef(props);
  latest.current = props;
  // Where the visitor is writing when an editor is made: in the plain field, or in the editor before.
  const writing = useRef(props.cursor);

  useLayoutEffect(() => {
    if (!host.current) return;
    const offer = (context: CompletionContext) => {
      const { from, text } = context.state.doc.lineAt(context.pos);
      const { replace, options } = latest.current.complete(text.slice(0, context.pos - from));
      if (options.length === 0 || (replace === 0 && !context.explicit)) return null;
      return {
        from: context.pos - replace,
        options: options.map(option => ({ ...option, type: 'keyword' })),
      };
    };
    const editor = new EditorView({
      parent: host.current,
      state: EditorState.create({
        doc: latest.current.value,
        extensions: [
          lineNumbers(),
          history(),
          lintGutter(),
          whenEmpty(placeholder),
          executedLine,
          autocompletion({ override: [offer], icons: false }),
          keymap.of([...completionKeymap, ...lineKeys, ...standardKeymap, ...historyKeymap]),
          EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false', tabindex: '0' }),
          EditorView.updateListener.of(update => {
            if (update.docChanged) latest.current.onChange(update.state.doc.toString());
          }),
        ],
      }),
    });
    view.current = editor;
    if (writing.current !== null) {
      editor.dispatch({ selection: { anchor: Math.min(writing.current, editor.state.doc.length) } });
      editor.focus();
    }
    return () => {
      writing.current = editor.hasFocus ? editor.state.selection.main.head : null;
      editor.destroy();
    };
  }, [label, placeholder]);

  useEffect(() => {
    const editor = view.current;
    const written = editor?.state.doc.toString() ?? value;
    if (!editor || written === value) return;
    const { from, to, insert } = changeOf(written, value);
    // The cursor stays behind what it was behind: the plain field may have got keys that come here late.
    const { head } = editor.state.selection.main;
    const anchor = head < from ? head : Math.max(from, head + value.length - written.length);
    editor.dispatch({ changes: { from, to, insert }, selection: { anchor } });
  }, [value]);

  useEffect(() => {
    const editor = view.current;
    if (!editor) return;
    const { doc } = editor.state;
    const diagnostics = errors
      .filter(error => error.line <= doc.lines)
      .map(({ line: at, column, length, message }): Diagnostic => {
        const { from, to } = doc.line(at);
        const start = Math.min(from + column - 1, to);
        return { from: start, to: Math.min(start + length, to), severity: 'error', message };
      });
    editor.dispatch(setDiagnostics(editor.state, diagnostics));
  }, [errors]);

  useEffect(() => {
    view.current?.dispatch({ effects: markLine.of(line) });
  }, [line]);

  return <div className="editor" ref={host} />;
}
