import { type ComponentType, useCallback, useLayoutEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { useNear } from '../../../ui/figures/useNear.ts';
import { formulasShown } from '../../../ui/formulas/Formula.tsx';
import { fontsShown } from '../../../ui/styles/fonts.ts';
import type { EditorProps, HandOver } from './CodeEditor.tsx';
import './editor.css';

type Editor = ComponentType<EditorProps & { readonly from: HandOver }>;

let loading: Promise<Editor> | null = null;

/** Loads the editor proper after the rest of the chapter, so that nobody waits for it. */
function loadEditor(): Promise<Editor> {
  loading ??= (async () => {
    await formulasShown();
    await fontsShown();
    return (await import('./CodeEditor.tsx')).default;
  })();
  return loading;
}

/** The text and selection of the plain field. */
function handOver(field: HTMLTextAreaElement): HandOver {
  const { value, selectionStart, selectionEnd, selectionDirection } = field;
  const [anchor, head] =
    selectionDirection === 'backward' ? [selectionEnd, selectionStart] : [selectionStart, selectionEnd];
  return { text: value, selection: document.activeElement === field ? { anchor, head } : null };
}

/**
 * The editor of a program. At first it is a plain text field, which the visitor can already type in; then the
 * editor replaces the field and takes over its text and selection. The change waits while a key is down or a
 * word is being composed, because the keydown and keyup of one key would otherwise go to different elements.
 */
export function ProgramEditor(props: EditorProps) {
  const { label, placeholder, value, onChange, onRun } = props;
  const host = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const near = useNear(host);
  const [shown, setShown] = useState<{ readonly Editor: Editor; readonly from: HandOver } | null>(null);
  const loaded = useRef<Editor | null>(null);
  const keysDown = useRef(new Set<string>());
  const composing = useRef(false);
  const takePlace = useCallback(() => {
    if (!loaded.current || !field.current || composing.current || keysDown.current.size > 0) return;
    const next = { Editor: loaded.current, from: handOver(field.current) };
    // At once: a key in between would be typed before the selection that was read.
    flushSync(() => setShown(next));
  }, []);
  useLayoutEffect(() => {
    if (!near) return;
    let current = true;
    loadEditor().then(
      editor => {
        if (!current) return;
        loaded.current = editor;
        takePlace();
      },
      // Without the network, the plain field stays.
      () => {},
    );
    return () => {
      current = false;
    };
  }, [near, takePlace]);
  /** Hands over once the event has been handled, if nothing else is left to wait for. */
  const settle = (): void => queueMicrotask(takePlace);
  return (
    <div ref={host}>
      {shown ? (
        <shown.Editor {...props} from={shown.from} />
      ) : (
        <textarea
          ref={field}
          className="plain-editor"
          aria-label={label}
          placeholder={placeholder}
          spellCheck={false}
          value={value}
          onChange={event => onChange(event.currentTarget.value)}
          onKeyDown={({ code, key, ctrlKey, metaKey }) => {
            keysDown.current.add(code);
            if (key === 'Enter' && (ctrlKey || metaKey)) onRun?.();
          }}
          onKeyUp={({ code }) => {
            keysDown.current.delete(code);
            settle();
          }}
          onCompositionStart={() => {
            composing.current = true;
          }}
          onCompositionEnd={() => {
            composing.current = false;
            settle();
          }}
          onBlur={() => {
            // The field gets no keyup for a key that is released elsewhere.
            keysDown.current.clear();
            composing.current = false;
            settle();
          }}
        />
      )}
    </div>
  );
}
