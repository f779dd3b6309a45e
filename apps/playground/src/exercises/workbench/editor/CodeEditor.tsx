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
import {
  Annotation,
  Compartment,
  EditorState,
  StateEffect,
  StateField,
  type TransactionSpec,
} from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  EditorView,
  keymap,
  lineNumbers,
  placeholder as whenEmpty,
} from '@codemirror/view';
import { useEffect, useLayoutEffect, useRef } from 'react';
import type { LineError } from '../../../logic/machine/program/program.ts';
import { wgslLanguage } from './wgsl-language.ts';

/** Commands for whole lines: the editor's key bindings that a program of single instructions needs. */
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
  /** The text that is shown while the program is empty. */
  readonly placeholder: string;
  readonly value: string;
  readonly onChange: (value: string) => void;
  /** The language that colours the program; without it the program has no colours. */
  readonly language?: 'wgsl';
  readonly errors: readonly (Omit<LineError, 'fault'> & { readonly message: string })[];
  /** The line that was executed last, from 1. */
  readonly line: number | null;
  /** Runs the program on Ctrl + Enter; without this, the keys do nothing. */
  readonly onRun?: () => void;
  readonly complete: (before: string) => {
    readonly replace: number;
    readonly options: readonly { readonly label: string; readonly detail: string }[];
  };
}

/** The part of a text that differs from a later text, without their common beginning and end. */
function changeOf(before: string, after: string): { from: number; to: number; insert: string } {
  const most = Math.min(before.length, after.length);
  let from = 0;
  while (from < most && before[from] === after[from]) from++;
  let end = 0;
  while (end < most - from && before.at(-1 - end) === after.at(-1 - end)) end++;
  return { from, to: before.length - end, insert: after.slice(from, after.length - end) };
}

/**
 * Changes how the text looks and leaves the cursor where it is. Drawing a line again loses the browser's
 * selection. CodeMirror restores the selection, but for 200 ms after getting the focus it assumes that the
 * selection is still there.
 */
function redraw(editor: EditorView, change: TransactionSpec): void {
  editor.dispatch(change);
  const { anchor, head } = editor.state.selection.main;
  const selection = document.getSelection();
  if (!editor.hasFocus || !selection?.focusNode || !editor.contentDOM.contains(selection.focusNode)) return;
  if (editor.posAtDOM(selection.focusNode, selection.focusOffset) === head) return;
  const [from, to] = [editor.domAtPos(anchor), editor.domAtPos(head)];
  selection.setBaseAndExtent(from.node, from.offset, to.node, to.offset);
}

/** Marks a change that came from the page, so that the editor does not report it to the page. */
const fromPage = Annotation.define<true>();

/** The plain field's text and selection when the editor replaces it; the selection is null without focus. */
export interface HandOver {
  readonly text: string;
  readonly selection: { readonly anchor: number; readonly head: number } | null;
}

/** The editor of a program: completion, errors at their position, the executed line marked. */
export default function CodeEditor(props: EditorProps & { readonly from: HandOver }) {
  const { label, placeholder, value, errors, line } = props;
  const host = useRef<HTMLDivElement>(null);
  const view = useRef<EditorView | null>(null);
  const words = useRef(new Compartment());
  const latest = useRef(props);
  latest.current = props;
  // Texts that the editor has reported and the page has not rendered yet. A render with one of them is an
  // echo: writing it into the editor would undo the keys typed since.
  const told = useRef<string[]>([]);

  useLayoutEffect(() => {
    if (!host.current) return;
    const { from: handed, language, value: shown } = latest.current;
    const offer = (context: CompletionContext) => {
      const { from, text } = context.state.doc.lineAt(context.pos);
      const { replace, options } = latest.current.complete(text.slice(0, context.pos - from));
      if (options.length === 0 || (replace === 0 && !context.explicit)) return null;
      return {
        from: context.pos - replace,
        options: options.map(option => ({ ...option, type: 'keyword' })),
      };
    };
    told.current = handed.text === shown ? [shown] : [shown, handed.text];
    const editor = new EditorView({
      parent: host.current,
      state: EditorState.create({
        doc: handed.text,
        ...(handed.selection && { selection: handed.selection }),
        extensions: [
          lineNumbers(),
          history(),
          lintGutter(),
          words.current.of([]),
          executedLine,
          language === 'wgsl' ? wgslLanguage : [],
          autocompletion({ override: [offer], icons: false }),
          keymap.of([
            {
              key: 'Mod-Enter',
              run: () => {
                latest.current.onRun?.();
                return latest.current.onRun !== undefined;
              },
            },
            ...completionKeymap,
            ...lineKeys,
            ...standardKeymap,
            ...historyKeymap,
          ]),
          EditorView.updateListener.of(({ docChanged, transactions, state }) => {
            if (!docChanged || transactions.some(one => one.annotation(fromPage))) return;
            const text = state.doc.toString();
            told.current.push(text);
            latest.current.onChange(text);
          }),
        ],
      }),
    });
    view.current = editor;
    if (handed.selection) editor.focus();
    return () => editor.destroy();
  }, []);

  useLayoutEffect(() => {
    const content = EditorView.contentAttributes.of({
      'aria-label': label,
      spellcheck: 'false',
      tabindex: '0',
    });
    if (!view.current) return;
    redraw(view.current, { effects: words.current.reconfigure([whenEmpty(placeholder), content]) });
  }, [label, placeholder]);

  useEffect(() => {
    const editor = view.current;
    if (!editor) return;
    const echoed = told.current.indexOf(value);
    told.current = echoed < 0 ? [] : told.current.slice(echoed + 1);
    const written = editor.state.doc.toString();
    if (echoed >= 0 || written === value) return;
    editor.dispatch({ changes: changeOf(written, value), annotations: fromPage.of(true) });
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
    redraw(editor, setDiagnostics(editor.state, diagnostics));
  }, [errors]);

  useEffect(() => {
    if (view.current) redraw(view.current, { effects: markLine.of(line) });
  }, [line]);

  return <div className="editor" ref={host} />;
}
