import { attentionNumbers, type Tokens } from './attention-numbers.ts';

/** The inputs that have gradients, as the tokens name them. */
export type InputName = 'q' | 'k' | 'v';

/** A copy of the tokens in which one number has changed. */
export function moved(tokens: Tokens, input: InputName, i: number, c: number, by: number): Tokens {
  const rows = tokens[input].map((row, r) => (r === i ? row.map((x, s) => (s === c ? x + by : x)) : row));
  return { ...tokens, [input]: rows };
}

/** L = Σ dO ∘ O, whose gradient with respect to O is dO. */
export function loss(tokens: Tokens): number {
  return attentionNumbers(tokens)
    .O.flatMap((row, i) => row.map((o, c) => o * (tokens.dO[i]?.[c] ?? 0)))
    .reduce((sum, x) => sum + x, 0);
}

/** (L(x + h) − L(x − h)) / 2h: the gradient with respect to one number, without any formula for gradients. */
export function finiteDifference(tokens: Tokens, input: InputName, i: number, c: number, h: number): number {
  return (loss(moved(tokens, input, i, c, h)) - loss(moved(tokens, input, i, c, -h))) / (2 * h);
}
