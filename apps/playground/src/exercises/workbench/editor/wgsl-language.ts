import { type EditorState, type Extension, StateField } from '@codemirror/state';
import { Decoration, type DecorationSet, EditorView } from '@codemirror/view';

const keywords =
  /^(alias|break|case|const|const_assert|continue|continuing|default|discard|else|enable|false|fn|for|if|let|loop|override|return|struct|switch|true|var|while)$/;

const types =
  /^(array|atomic|bool|f16|f32|i32|ptr|u32|(vec[234]|mat[234]x[234])[fhiu]?|workgroup|storage|function|private|uniform|read|read_write)$/;

/** The tokens that may have a colour: starts of comments, attributes, numbers, and words. */
const token = /\/\/.*|\/\*|@\w+|\b(?:0x[\da-f]+|\d+\.?\d*(?:e[+-]?\d+)?)[fhiu]?\b|[A-Za-z_]\w*(?=(\s*\()?)/gi;

/** The class of a token; null for a name that has no colour. */
function classOf(text: string, isCall: boolean): string | null {
  if (text.startsWith('/')) return 'wgsl-comment';
  if (text.startsWith('@') || keywords.test(text)) return 'wgsl-keyword';
  if (/^\d/.test(text)) return 'wgsl-number';
  if (types.test(text)) return 'wgsl-type';
  return isCall ? 'wgsl-function' : null;
}

/**
 * The end of a block comment that starts at `from`. Block comments nest, and one that is not closed reaches
 * to the end.
 */
function commentEnd(text: string, from: number): number {
  let depth = 0;
  for (const { 0: mark, index } of text.slice(from).matchAll(/\/\*|\*\//g)) {
    depth += mark === '/*' ? 1 : -1;
    if (depth === 0) return from + index + mark.length;
  }
  return text.length;
}

/** The coloured ranges of a program, in order. */
export function coloursOf(text: string): { from: number; to: number; name: string }[] {
  const found: { from: number; to: number; name: string }[] = [];
  let end = 0;
  for (const { 0: word, 1: call, index } of text.matchAll(token)) {
    // Words inside a comment that spans several lines.
    if (index < end) continue;
    end = word === '/*' ? commentEnd(text, index) : index + word.length;
    const name = classOf(word, call !== undefined);
    if (name) found.push({ from: index, to: end, name });
  }
  return found;
}

const marksOf = ({ doc }: EditorState): DecorationSet =>
  Decoration.set(
    coloursOf(doc.toString()).map(({ from, to, name }) => Decoration.mark({ class: name }).range(from, to)),
  );

/** Colours WGSL in the editor. A full grammar would be ten times as large. */
export const wgslLanguage: Extension = StateField.define<DecorationSet>({
  create: marksOf,
  update: (marks, { docChanged, state }) => (docChanged ? marksOf(state) : marks),
  provide: field => EditorView.decorations.from(field),
});
