import type { Extension } from '@codemirror/state';
import {
  Decoration,
  type DecorationSet,
  type EditorView,
  MatchDecorator,
  ViewPlugin,
  type ViewUpdate,
} from '@codemirror/view';

const keywords =
  /^(alias|break|case|const|const_assert|continue|continuing|default|discard|else|enable|false|fn|for|if|let|loop|override|return|struct|switch|true|var|while)$/;

const types =
  /^(array|atomic|bool|f16|f32|i32|ptr|u32|(vec[234]|mat[234]x[234])[fhiu]?|workgroup|storage|function|private|uniform|read|read_write)$/;

/** The tokens that have a colour: comments within a line, attributes, numbers, and words. */
const token =
  /\/\/.*|\/\*.*?\*\/|@\w+|\b(?:0x[\da-f]+|\d+\.?\d*(?:e[+-]?\d+)?)[fhiu]?\b|[A-Za-z_]\w*(?=(\s*\()?)/gi;

/** The class of a token; null for a name that has no colour. */
function classOf(text: string, isCall: boolean): string | null {
  if (text.startsWith('/')) return 'wgsl-comment';
  if (text.startsWith('@') || keywords.test(text)) return 'wgsl-keyword';
  if (/^\d/.test(text)) return 'wgsl-number';
  if (types.test(text)) return 'wgsl-type';
  return isCall ? 'wgsl-function' : null;
}

const marker = new MatchDecorator({
  regexp: token,
  decorate(add, from, to, [text, call]) {
    const name = classOf(text, call !== undefined);
    if (name) add(from, to, Decoration.mark({ class: name }));
  },
});

/**
 * Colours of WGSL for the editor. A grammar would weigh ten times as much; this one knows no comments of
 * several lines.
 */
export const wgslLanguage: Extension = ViewPlugin.fromClass(
  class {
    marks: DecorationSet;
    constructor(view: EditorView) {
      this.marks = marker.createDeco(view);
    }
    update(update: ViewUpdate): void {
      this.marks = marker.updateDeco(update, this.marks);
    }
  },
  { decorations: plugin => plugin.marks },
);
