import { PhiloxStream } from '@tilewise/philox';
import { processorTime } from '@tilewise/test-data';
import { TilewiseError } from '../src/errors.ts';

/** Values that JavaScript can pass, whatever the types say. */
const hostile: readonly (() => unknown)[] = [
  ...[
    null,
    undefined,
    NaN,
    Infinity,
    -1,
    0,
    -0,
    1.5,
    2 ** 31,
    2 ** 53,
    1e308,
    7n,
    true,
    '',
    'f32',
    'bool',
  ].map(value => () => value),
  ...['constructor', '__proto__', 'toString', 'score', 'exp', 'add', 'not', 'load', 'length'].map(
    value => () => value,
  ),
  () => [],
  () => ({}),
  () => [1, 2, 3],
  () => Symbol('no value'),
  () => () => 1,
  () => new Map(),
  () => new Float32Array(3),
  () => new Array(1000),
];

/** A random generator from a seed. */
export interface Random {
  /** A whole number below n. */
  below(n: number): number;
  pick<T>(list: readonly T[]): T;
}

export function createRandom(seed: number, subsequence: number): Random {
  const stream = new PhiloxStream(seed, { subsequence });
  const below = (n: number): number => stream.nextU32() % n;
  return { below, pick: list => list[below(list.length)] };
}

/** A value that no type allows, or another part of the mutated value. */
export function hostileValue(random: Random, parts: readonly unknown[]): unknown {
  return random.below(4) === 0 && parts.length > 0 ? random.pick(parts) : random.pick(hostile)();
}

/**
 * Changes one to three fields of a value, at any depth, in place: a field gets another value, is removed, or
 * is added.
 */
export function mutate(value: object, random: Random): void {
  for (let times = 1 + random.below(3); times > 0; times--) {
    const places = placesOf(value);
    if (places.length === 0) return;
    const [holder, key] = random.pick(places);
    const other = hostileValue(
      random,
      places.map(([part]) => part),
    );
    const change = random.below(8);
    if (change === 0) delete holder[key];
    else if (change === 1) holder[`${key}s`] = other;
    else holder[key] = other;
  }
}

type Fields = Record<string, unknown>;

/** Every field of a value, once. */
function placesOf(value: object): [Fields, string][] {
  const found = new Set<object>();
  const places: [Fields, string][] = [];
  const open: object[] = [value];
  for (let part = open.pop(); part !== undefined; part = open.pop()) {
    if (found.has(part) || found.size > 200 || !isPlain(part)) continue;
    found.add(part);
    for (const key of Object.keys(part)) {
      const field = (part as Fields)[key];
      places.push([part as Fields, key]);
      if (typeof field === 'object' && field !== null) open.push(field);
    }
  }
  return places;
}

/** The outcome of a call with mutated arguments. */
export type Outcome = 'accepted' | 'refused';

/**
 * Runs a call that may be refused.
 * @throws errors other than TilewiseError, and an Error if the call took more than two seconds of processor
 * time.
 */
export function outcomeOf(call: () => unknown): Outcome {
  const start = processorTime();
  const outcome = outcomeOfAny(call);
  const ms = processorTime() - start;
  if (ms > 2000) throw new Error(`a call took ${Math.round(ms)} ms`);
  return outcome;
}

function outcomeOfAny(call: () => unknown): Outcome {
  try {
    call();
    return 'accepted';
  } catch (error) {
    if (error instanceof TilewiseError) return 'refused';
    throw error;
  }
}

function isPlain(part: object): boolean {
  return Array.isArray(part) || Object.getPrototypeOf(part) === Object.prototype;
}
