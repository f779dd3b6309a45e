import { pieces } from '../../text/markup.ts';
import { Formula } from '../formulas/Formula.tsx';
import { symbolParts } from '../formulas/symbols.ts';

/** A text of the catalogue, with its code, formulas and emphasis. */
export function Rich({ text }: { readonly text: string }) {
  return pieces(text).map((piece, n) => {
    // The pieces of a text never move, so their index is their key.
    const key = `${n}`;
    switch (piece.kind) {
      case 'code':
        return <code key={key}>{piece.text}</code>;
      case 'formula':
        return <Formula key={key} tex={piece.text} />;
      case 'emphasis':
        return <em key={key}>{piece.text}</em>;
      default:
        return <Plain key={key} text={piece.text} />;
    }
  });
}

/** Plain text whose symbols the visitor can point at. */
function Plain({ text }: { readonly text: string }) {
  return symbolParts(text).map((part, n) => {
    if (n % 2 === 0) return part;
    const key = `${n}`;
    return (
      <span key={key} className="symbol-word" data-symbol={part}>
        {part}
      </span>
    );
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
