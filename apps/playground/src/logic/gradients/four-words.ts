import { attentionNumbers, type Tokens } from './attention-numbers.ts';
import { type Element, type MatrixName, matricesOf } from './terms.ts';

/** Four words of the sentence, with two channels. */
export const words = ['cat', 'slept', 'it', 'tired'] as const;
export const start: Tokens = {
  q: [
    [1, 0.5],
    [0.5, 1.5],
    [1.5, 0],
    [-0.5, 2],
  ],
  k: [
    [1.5, 0],
    [0, 1],
    [1, 1],
    [0.5, -1],
  ],
  v: [
    [1, 0],
    [0, 1],
    [0.5, 0.5],
    [-1, 1],
  ],
  dO: [
    [1, -0.5],
    [0.5, 1],
    [-1, 0.5],
    [0, 1],
  ],
};

const initial: Element = { matrix: 'dS', i: 1, j: 2 };
const atStart = matricesOf(start, attentionNumbers(start));
const names = Object.keys(atStart) as MatrixName[];

/** The element that the address names, such as `dS12`; a name that no element has counts as the default. */
export function readElement(text: string): Element {
  const parts = /^([A-Za-z]+)(\d)(\d)$/.exec(text);
  const [i, j] = [Number(parts?.[2]), Number(parts?.[3])];
  const matrix = names.find(name => name === parts?.[1]);
  return matrix && atStart[matrix][i]?.[j] !== undefined ? { matrix, i, j } : initial;
}
