import { defaultKeymap, history, historyKeymap } from '@codemirror/commands';
import { javascript } from '@codemirror/lang-javascript';
import { defaultHighlightStyle, syntaxHighlighting } from '@codemirror/language';
import { oneDarkHighlightStyle } from '@codemirror/theme-one-dark';
import { EditorView, keymap } from '@codemirror/view';

/** A TypeScript editor in the page. */
export interface Editor {
  text(): string;
  close(): void;
}

/** Opens an editor in an element of the page. Tab leaves the editor, as it leaves every other control. */
export function openEditor(parent: HTMLElement, doc: string): Editor {
  const dark = document.documentElement.classList.contains('dark');
  const view = new EditorView({
    parent,
    doc,
    extensions: [
      history(),
      keymap.of([...defaultKeymap, ...historyKeymap]),
      javascript({ typescript: true }),
      syntaxHighlighting(dark ? oneDarkHighlightStyle : defaultHighlightStyle),
      EditorView.contentAttributes.of({ 'aria-label': 'Example code' }),
      EditorView.theme({}, { dark }),
    ],
  });
  view.focus();
  return { text: () => view.state.doc.toString(), close: () => view.destroy() };
}
