import type { Text } from '../../text/text.ts';

/** The ids of the quizzes; their texts are in the catalogue. */
export type QuizId = Exclude<keyof Text['quizzes'], 'words'>;

/** The right answer: one option, several options (by index), or a number. */
export type Answer =
  | { readonly kind: 'one'; readonly right: number }
  | { readonly kind: 'several'; readonly right: readonly number[] }
  | { readonly kind: 'number'; readonly right: number };

const one = (right: number): Answer => ({ kind: 'one', right });
const number = (right: number): Answer => ({ kind: 'number', right });

export const answers: Readonly<Record<QuizId, Answer>> = {
  'square-memory': number(4),
  'square-root': one(1),
  'inner-six': number(20),
  'three-registers': one(1),
  'safe-factor': one(1),
  'running-tricks': { kind: 'several', right: [0, 2, 4] },
  welford: one(2),
  'numerator-rule': one(1),
  'one-pass': one(2),
  'intensity-orders': number(1.5),
  'intensity-flash': one(1),
  ingredient: one(1),
  'why-gradients': one(0),
  'projection-cost': one(0),
  'walk-score': number(2),
  'known-d': one(1),
};

/** The visitor's answer: indices of options, or a text. */
export interface Given {
  readonly chosen: readonly number[];
  readonly written: string;
}

/** Signs and words that may follow a factor, in English and German. */
const factorWords = '[x×]|times|-?(?:mal|fach)';
const decimal = '\\d+(?:[.,]\\d+)?';
const numberText = new RegExp(
  `^\\s*([+-]?${decimal})\\s*(?:/\\s*(${decimal}))?\\s*(?:${factorWords})?\\s*$`,
  'i',
);

/**
 * Reads a number as people write it: with a point or a comma, as a fraction, or as a factor such as `4×`.
 * Returns null for other text.
 */
export function readNumber(text: string): number | null {
  const parts = numberText.exec(text);
  if (!parts) return null;
  const [above = Number.NaN, below = 1] = parts
    .slice(1)
    .filter(part => part !== undefined)
    .map(part => Number(part.replace(',', '.')));
  return above / below;
}

/** Whether the visitor's answer is right. */
export function isRight(answer: Answer, { chosen, written }: Given): boolean {
  if (answer.kind === 'number') return readNumber(written) === answer.right;
  const right = answer.kind === 'one' ? [answer.right] : answer.right;
  return chosen.length === right.length && right.every(option => chosen.includes(option));
}
