/** The state for some keys of one query: their maximum, and sums of exp(x − m) and exp(x − m)·v. */
export interface SoftmaxState {
  readonly m: number;
  readonly d: number;
  readonly num: readonly number[];
}

/** The state of no keys: merging it changes nothing. */
export function emptyState(channels: number): SoftmaxState {
  return { m: Number.NEGATIVE_INFINITY, d: 0, num: Array.from({ length: channels }, () => 0) };
}

/** The state of a tile of scores `x` with their value vectors `v`. */
export function tileState(x: readonly number[], v: readonly (readonly number[])[]): SoftmaxState {
  const m = Math.max(...x);
  const weights = x.map(value => Math.exp(value - m));
  const channels = v[0]?.length ?? 0;
  return {
    m,
    d: weights.reduce((sum, weight) => sum + weight, 0),
    num: Array.from({ length: channels }, (_, c) =>
      weights.reduce((sum, weight, j) => sum + weight * (v[j]?.[c] ?? 0), 0),
    ),
  };
}

/** A merge of two states, with the factors that bring both to the common maximum. */
export interface Merge {
  readonly state: SoftmaxState;
  readonly factors: readonly [number, number];
}

/**
 * m′ = max(m₁, m₂), d′ = d₁·e^{m₁−m′} + d₂·e^{m₂−m′}, and num′ likewise. Associative, and commutative up to
 * rounding.
 */
export function mergeStates(a: SoftmaxState, b: SoftmaxState): Merge {
  const m = Math.max(a.m, b.m);
  // −∞ − (−∞) is NaN, so a state without keys gets weight 0 explicitly.
  const factor = (own: number): number => (own === Number.NEGATIVE_INFINITY ? 0 : Math.exp(own - m));
  const factors = [factor(a.m), factor(b.m)] as const;
  const state = {
    m,
    d: a.d * factors[0] + b.d * factors[1],
    num: a.num.map((value, c) => value * factors[0] + (b.num[c] ?? 0) * factors[1]),
  };
  return { state, factors };
}

/** o = num / d; 0 when there are no keys. */
export function output({ d, num }: SoftmaxState): number[] {
  return num.map(value => (d === 0 ? 0 : value / d));
}

/** One step of the streaming pass: the tile that came in, and the state after it. */
export interface StreamStep {
  readonly first: number;
  readonly end: number;
  readonly tile: SoftmaxState;
  readonly merge: Merge;
}

/** Streams over all keys, `tileSize` at a time: flash attention's inner loop for one query. */
export function streamRow(
  x: readonly number[],
  v: readonly (readonly number[])[],
  tileSize: number,
): StreamStep[] {
  const steps: StreamStep[] = [];
  for (let first = 0; first < x.length; first += tileSize) {
    const end = Math.min(x.length, first + tileSize);
    const tile = tileState(x.slice(first, end), v.slice(first, end));
    const before = steps.at(-1)?.merge.state ?? emptyState(v[0]?.length ?? 0);
    steps.push({ first, end, tile, merge: mergeStates(before, tile) });
  }
  return steps;
}
