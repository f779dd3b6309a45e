import { PhiloxStream } from '@tilewise/philox';

/** One change to a value within a plain object. */
export interface Mutation {
  /** The changed object; the original does not change. */
  readonly value: unknown;
  /** The mutation, for a message: `q.strides.1 = "x"`. */
  readonly change: string;
  readonly path: readonly string[];
  readonly was: unknown;
  readonly now: unknown;
}

/** Values of wrong types, to replace other values. */
const strange: readonly unknown[] = [
  ...[-1, -2, 1.5, Number.NaN, Infinity, -Infinity, 2 ** 31, 1e9, 1e300, 2 ** 53, 0, 1, 7],
  ...['', 'zzz', '1', '__proto__', null, undefined, true, false, 3n, Symbol('s')],
  ...[[], [1], {}, { kind: 'mask' }, [Number.NaN], () => 1],
];

/** `count` single changes to `base`, the same for the same seed. */
export function* mutations(base: unknown, count: number, seed: number): Generator<Mutation> {
  const stream = new PhiloxStream(seed);
  const pick = <T>(from: readonly T[]): T => from[stream.nextU32() % from.length] as T;
  const paths = [...pathsOf(base, [])];
  for (let n = 0; n < count; n++) {
    const path = pick(paths);
    const was = path.reduce<unknown>((at, key) => (at as Record<string, unknown>)[key], base);
    const now = pick(strange);
    const change = `${path.join('.')} = ${typeof now === 'object' ? JSON.stringify(now) : String(now)}`;
    yield { value: withValue(base, path, now), change, path, was, now };
  }
}

function* pathsOf(value: unknown, path: readonly string[]): Generator<readonly string[]> {
  if (path.length > 0) yield path;
  if (typeof value !== 'object' || value === null || ArrayBuffer.isView(value)) return;
  for (const [key, entry] of Object.entries(value)) yield* pathsOf(entry, [...path, key]);
  yield [...path, Array.isArray(value) ? String(value.length) : 'unheardOf'];
}

function withValue(base: unknown, [key, ...rest]: readonly string[], now: unknown): unknown {
  const inner = rest.length === 0 ? now : withValue((base as Record<string, unknown>)[key], rest, now);
  if (Array.isArray(base)) return Object.assign([...base], { [key]: inner });
  return { ...(base as object), [key]: inner };
}
