import { isStridedData, type StridedData } from './data/strided-data.ts';
import type { RandomProblem } from './random-problem.ts';

/** A random problem as a call, over the caller's tensor type. */
export interface RandomCall<T> {
  readonly q: T;
  readonly k: T;
  readonly v: T;
  readonly dO: T;
  readonly dLse?: T;
  /** The options of `sdpaBackward`; the caller decides which tensor type they contain. */
  readonly options: object;
}

/** Makes a mod from a stored expression and its captured tensors: `modOf` of `@tilewise/core/expr`. */
export type MakeMod<T> = (expr: never, captures?: Readonly<Record<string, T>>) => object;

/** The call of `sdpa` and `sdpaBackward` that computes a random problem. */
export function randomCall<T>(
  problem: RandomProblem,
  makeTensor: (data: StridedData) => T,
  makeMod: MakeMod<T>,
): RandomCall<T> {
  const { tensors, backwardInputs, options } = problem;
  const made = (value: unknown): unknown => {
    if (isStridedData(value)) return makeTensor(value);
    if (typeof value !== 'object' || value === null || Array.isArray(value)) return value;
    if ('expr' in value) {
      const captures = 'captures' in value ? (made(value.captures) as Record<string, T>) : undefined;
      return makeMod(value.expr as never, captures);
    }
    return Object.fromEntries(Object.entries(value).map(([name, one]) => [name, made(one)]));
  };
  const { q, k, v, dO } = tensors;
  return {
    q: makeTensor(q),
    k: makeTensor(k),
    v: makeTensor(v),
    dO: makeTensor(dO),
    ...Object.fromEntries(Object.entries(backwardInputs).map(([name, data]) => [name, makeTensor(data)])),
    options: made(options) as object,
  };
}
