import { attentionNumbers, type Tokens } from './attention-numbers.ts';

/** The inputs that have gradients, as the tokens name them. */
export type InputName = 'q' | 'k' | 'v';

/** The tokens with one number moved. */
export function moved(tokens: Tokens, input: InputName, i: number, c: number, by: number): Tokens {
  const rows = tokens[input].map((row, r) => (r === i ? row.map((x, s) => (s === c ? x + by : x)) : row));
  return { ...tokens, [input]: rows };
}

/** L = Σ dO ∘ O, whose gradient by O is dO. */
export function loss(tokens: Tokens): number {
  return attentionNumbers(tokens)
    .O.flatMap((row, i) => row.map((o, c) => o * (tokens.dO[i]?.[c] ?? 0)))
    .reduce((sum, x) => sum + x, 0);
}

/** (L(x + h) − L(x − h)) / 2h: what the gradient by one number must be, without any formula for gradients. */
export function finiteDifference(tokens: Tokens, input: InputName, i: number, c: number, h: number): number {
  return (loss(moved(tokens, input, i, c, h)) - loss(moved(tokens, input, i, c, -h))) / (2 * h);
}
