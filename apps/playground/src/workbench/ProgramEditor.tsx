import { type ComponentType, useLayoutEffect, useRef, useState } from 'react';
import { flushSync } from 'react-dom';
import { formulasShown } from '../ui/Formula.tsx';
import { useNear } from '../ui/useNear.ts';
import type { EditorProps } from './CodeEditor.tsx';
import './editor.css';

type Editor = ComponentType<EditorProps & { readonly cursor: number | null }>;

let loading: Promise<Editor> | null = null;

/** The editor proper comes when what there is to read is there, so that nobody waits for it. */
function loadEditor(): Promise<Editor> {
  loading ??= (async () => {
    await formulasShown();
    // With the formulas their fonts are asked for.
    await new Promise(resolve => requestAnimationFrame(resolve));
    await document.fonts.ready;
    return (await import('./CodeEditor.tsx')).default;
  })();
  return loading;
}

/**
 * Where a program is written. At first it is a plain text field, in which one can write already; the editor
 * takes its place, with what was written and with the cursor.
 */
export function ProgramEditor(props: EditorProps) {
  const { label, placeholder, value, onChange } = props;
  const host = useRef<HTMLDivElement>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const near = useNear(host);
  const [loaded, setLoaded] = useState<{ readonly editor: Editor; readonly cursor: number | null } | null>(
    null,
  );
  useLayoutEffect(() => {
    if (!near) return;
    let current = true;
    loadEditor().then(
      editor => {
        if (!current) return;
        const writing = document.activeElement === field.current;
        const cursor = writing ? (field.current?.selectionStart ?? null) : null;
        // At once: a key that comes in between would be written before the cursor that was read.
        flushSync(() => setLoaded({ editor, cursor }));
      },
      // Without the network the plain field does it.
      () => {},
    );
    return () => {
      current = false;
    };
  }, [near]);
  return (
    <div ref={host}>
      {loaded ? (
        <loaded.editor {...props} cursor={loaded.cursor} />
      ) : (
        <textarea
          ref={field}
          className="plain-editor"
          aria-label={label}
          placeholder={placeholder}
          spellCheck={false}
          value={value}
          onChange={event => onChange(event.currentTarget.value)}
        />
      )}
    </div>
  );
}
