import { HighlightStyle, StreamLanguage, syntaxHighlighting } from '@codemirror/language';
import type { Extension } from '@codemirror/state';
import { tags } from '@lezer/highlight';

const keywords =
  /^(alias|break|case|const|const_assert|continue|continuing|default|discard|else|enable|false|fn|for|if|let|loop|override|return|struct|switch|true|var|while)$/;

const types =
  /^(array|atomic|bool|f16|f32|i32|ptr|u32|(vec[234]|mat[234]x[234])[fhiu]?|workgroup|storage|function|private|uniform|read|read_write)$/;

/** The tokens of WGSL, as far as colours need them. */
const wgsl = StreamLanguage.define<{ depth: number }>({
  name: 'wgsl',
  startState: () => ({ depth: 0 }),
  token(stream, state) {
    // Block comments nest.
    if (stream.match('/*')) state.depth++;
    if (state.depth > 0) {
      while (state.depth > 0 && !stream.eol()) {
        if (stream.match('/*')) state.depth++;
        else if (stream.match('*/')) state.depth--;
        else stream.next();
      }
      return 'comment';
    }
    if (stream.eatSpace()) return null;
    if (stream.match('//')) {
      stream.skipToEnd();
      return 'comment';
    }
    if (stream.match(/^@\w+/)) return 'meta';
    if (stream.match(/^(0x[\da-f]+|\d*\.?\d+(e[+-]?\d+)?)[fhiu]?/i)) return 'number';
    const word = stream.match(/^[A-Za-z_]\w*/);
    if (word && word !== true) {
      if (keywords.test(word[0])) return 'keyword';
      if (types.test(word[0])) return 'typeName';
      return stream.match(/^\s*\(/, false) ? 'function' : null;
    }
    stream.next();
    return null;
  },
  languageData: { commentTokens: { line: '//', block: { open: '/*', close: '*/' } } },
  tokenTable: { function: tags.function(tags.variableName) },
});

const colours = HighlightStyle.define([
  { tag: tags.comment, class: 'wgsl-comment' },
  { tag: tags.keyword, class: 'wgsl-keyword' },
  { tag: tags.meta, class: 'wgsl-meta' },
  { tag: tags.number, class: 'wgsl-number' },
  { tag: tags.typeName, class: 'wgsl-type' },
  { tag: tags.function(tags.variableName), class: 'wgsl-function' },
]);

/** Colours of WGSL for the editor. */
export const wgslLanguage: Extension = [wgsl, syntaxHighlighting(colours)];
