import { pieces } from '../text/markup.ts';
import { Formula } from './Formula.tsx';

/** A text of the catalogue, with its code, formulas and emphasis. */
export function Rich({ text }: { readonly text: string }) {
  return pieces(text).map((piece, n) => {
    // The pieces of a text never move: their place is their name.
    const key = `${n}`;
    switch (piece.kind) {
      case 'code':
        return <code key={key}>{piece.text}</code>;
      case 'formula':
        return <Formula key={key} tex={piece.text} />;
      case 'emphasis':
        return <em key={key}>{piece.text}</em>;
      default:
        return piece.text;
    }
  });
}

/** Paragraphs of the catalogue. */
export function Paragraphs({ text }: { readonly text: readonly string[] }) {
  return text.map(paragraph => (
    <p key={paragraph}>
      <Rich text={paragraph} />
    </p>
  ));
}
