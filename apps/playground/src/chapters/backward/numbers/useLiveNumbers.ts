import { useMemo } from 'react';
import { attentionNumbers } from '../../../logic/gradients/attention-numbers.ts';
import { type InputName, moved } from '../../../logic/gradients/finite-difference.ts';
import { readElement, start } from '../../../logic/gradients/four-words.ts';
import type { Element, MatrixName } from '../../../logic/gradients/terms.ts';
import { useUrlNumber, useUrlState } from '../../../state/url-state.ts';

const movable: Partial<Record<MatrixName, InputName>> = { Q: 'q', K: 'k', V: 'v', dQ: 'q', dK: 'k', dV: 'v' };

/**
 * The element that the visitor has chosen, the numbers that the visitor has changed, and how to change both.
 */
export function useLiveNumbers() {
  const [written, write] = useUrlState('element', 'dS12');
  const [tenths, setTenths] = useUrlNumber('moved', 0, { min: -30, max: 30 });
  const chosen = readElement(written);
  const input = movable[chosen.matrix] ?? 'q';
  const [i, c] = movable[chosen.matrix] ? [chosen.i, chosen.j] : [chosen.i, 0];
  const tokens = useMemo(() => moved(start, input, i, c, tenths / 10), [input, i, c, tenths]);
  const numbers = useMemo(() => attentionNumbers(tokens), [tokens]);
  const choose = (element: Element): void => write(`${element.matrix}${element.i}${element.j}`);
  return { chosen, choose, input, i, c, tokens, numbers, tenths, setTenths };
}
