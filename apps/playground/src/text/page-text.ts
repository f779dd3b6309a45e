import { pieces } from './markup.ts';

/** Sentences are longer than this number of characters; labels and names are shorter. */
const sentence = 70;

/** All sentences of the page, without formulas: a training text that every visitor has. */
export function pageText(catalogue: unknown): string {
  return sentences(catalogue)
    .map(text =>
      pieces(text)
        .filter(({ kind }) => kind !== 'formula')
        .map(piece => piece.text)
        .join(''),
    )
    .join('\n');
}

function sentences(node: unknown): string[] {
  if (typeof node === 'string') return node.length > sentence ? [node] : [];
  if (typeof node !== 'object' || node === null) return [];
  return Object.values(node).flatMap(sentences);
}
