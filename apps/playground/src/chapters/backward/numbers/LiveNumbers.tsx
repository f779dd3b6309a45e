import { useMemo, useState } from 'react';
import { type Element, type MatrixName, makingOf, matricesOf } from '../../../logic/gradients/terms.ts';
import { useNumbers } from '../../../text/numbers.ts';
import { useChapterText } from '../../../text/useChapterText.ts';
import { ScrollRegion } from '../../../ui/figures/ScrollRegion.tsx';
import { Rich } from '../../../ui/prose/Rich.tsx';
import './numbers.css';
import { NumberMatrix } from './NumberMatrix.tsx';
import { useLiveNumbers } from './useLiveNumbers.ts';

/** The matrices in the order of the page: forward, backward, gradients. */
const layout: readonly (readonly MatrixName[])[] = [
  ['Q', 'K', 'V', 'dO'],
  ['S', 'P', 'O'],
  ['dP', 'D', 'dS'],
  ['dQ', 'dK', 'dV'],
];

/**
 * All matrices of attention and its backward pass for four words, with numbers that the visitor can change.
 */
export function LiveNumbers() {
  const text = useChapterText('backward');
  const { fixed } = useNumbers();
  const { chosen, choose, tokens, numbers } = useLiveNumbers();
  const [pointed, point] = useState<Element | null>(null);
  const shown = pointed ?? chosen;
  const matrices = useMemo(() => matricesOf(tokens, numbers), [tokens, numbers]);
  const number = (value: number): string => fixed(value, 2);
  const making = makingOf(shown, matrices, number);
  const pick = (element: Element): void => {
    point(null);
    choose(element);
  };
  return (
    <div className="stack">
      <p className="making" role="status">
        {making ? (
          <>
            <span className="mono">{making.rule}</span>
            <span className="mono">= {making.terms}</span>
          </>
        ) : (
          <Rich text={text.given} />
        )}
      </p>
      <ScrollRegion label={text.numbers}>
        {layout.map(row => (
          <div className="matrices" key={row.join()}>
            {row.map(name => (
              <NumberMatrix
                key={name}
                {...{ name, chosen, shown, number }}
                values={matrices[name]}
                used={making?.used ?? []}
                onPoint={point}
                onChoose={pick}
              />
            ))}
          </div>
        ))}
      </ScrollRegion>
    </div>
  );
}
