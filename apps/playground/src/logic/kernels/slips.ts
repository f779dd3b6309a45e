import { sdpaFloat64 } from '@tilewise/core/reference';
import { expected } from './expected.ts';
import type { ArrayName } from './puzzles/arrays.ts';
import { asTensor, type KernelInput } from './puzzles/inputs.ts';
import type { Puzzle } from './puzzles/puzzles.ts';

/** A common mistake that can be recognised by its results. */
export type Slip = 'scale' | 'mask' | 'normalise' | 'rescale' | 'delta' | 'barrier' | 'race';

type Outputs = ReadonlyMap<ArrayName, ArrayLike<number>>;

/** The array that shows a slip most clearly, with the values that the slip produces. */
type Made = readonly [slip: Slip, array: ArrayName, values: Float64Array];

/** The outputs that the known slips produce from an input. */
function* made(puzzle: Puzzle, input: KernelInput): Generator<Made> {
  const right = expected(puzzle, input);
  const { n, columns } = input.sizes;
  const unscaled = { ...input, scale: 1 };
  const o = right.get('o')?.values;
  if (puzzle.outputs.includes('o') && o) {
    const all = expected({ ...puzzle, causal: false }, input).get('o');
    const bare = expected(puzzle, unscaled).get('o');
    if (bare) yield ['scale', 'o', bare.values];
    if (puzzle.causal && all) yield ['mask', 'o', all.values];
    const [q, k, v] = (['q', 'k', 'v'] as const).map(name =>
      asTensor(input.arrays.get(name) ?? new Float32Array(), input.sizes),
    );
    if (!q || !k || !v) return;
    const { sumExp } = sdpaFloat64(q, k, v, { scale: input.scale, causal: puzzle.causal });
    yield* unshrunk(puzzle, input, sumExp.values);
    yield ['normalise', 'o', o.map((value, e) => value * (sumExp.values[Math.floor(e / columns)] ?? 1))];
  }
  if (puzzle.outputs.includes('y')) {
    const x = input.arrays.get('x') ?? new Float32Array();
    const maxima = Array.from({ length: input.sizes.rows }, (_, i) =>
      Math.max(...x.subarray(i * n, (i + 1) * n)),
    );
    yield [
      'normalise',
      'y',
      Float64Array.from(x, (value, e) => Math.exp(value - (maxima[Math.floor(e / n)] ?? 0))),
    ];
  }
  for (const array of ['dq', 'dk'] as const) {
    const exact = right.get(array)?.values;
    if (!puzzle.outputs.includes(array) || !exact) continue;
    yield ['scale', array, exact.map(value => value / input.scale)];
    // dS is p · (dP − delta): the second term's contribution to the gradient of q or k.
    const [q, k, stats] = (['q', 'k', 'stats'] as const).map(
      name => input.arrays.get(name) ?? new Float32Array(),
    ) as [Float32Array, Float32Array, Float32Array];
    const without = Float64Array.from(exact);
    for (let i = 0; i < n; i++) {
      for (let j = 0; j < n; j++) {
        let s = 0;
        for (let c = 0; c < columns; c++) s += (q[i * columns + c] ?? 0) * (k[j * columns + c] ?? 0);
        const p = Math.exp(s * input.scale - (stats[2 * i] ?? 0));
        for (let c = 0; c < columns; c++) {
          const [to, from] = array === 'dq' ? [i, k[j * columns + c]] : [j, q[i * columns + c]];
          const at = to * columns + c;
          without[at] = (without[at] ?? 0) + p * (stats[2 * i + 1] ?? 0) * (from ?? 0) * input.scale;
        }
      }
    }
    yield ['delta', array, without];
  }
}

/**
 * The output if sums are not corrected when the maximum rises: either only the numerator or the denominator,
 * too. `sums` has the right denominator of each row.
 */
function* unshrunk(puzzle: Puzzle, input: KernelInput, sums: Float64Array): Generator<Made> {
  const { n, columns } = input.sizes;
  const [q, k, v] = (['q', 'k', 'v'] as const).map(name => input.arrays.get(name) ?? new Float32Array()) as [
    Float32Array,
    Float32Array,
    Float32Array,
  ];
  const numerators = new Float64Array(n * columns);
  const denominators = new Float64Array(n);
  for (let i = 0; i < n; i++) {
    let m = Number.NEGATIVE_INFINITY;
    for (let j = 0; j < (puzzle.causal ? i + 1 : n); j++) {
      let s = 0;
      for (let c = 0; c < columns; c++) s += (q[i * columns + c] ?? 0) * (k[j * columns + c] ?? 0);
      m = Math.max(m, s * input.scale);
      const p = Math.exp(s * input.scale - m);
      denominators[i] = (denominators[i] ?? 0) + p;
      for (let c = 0; c < columns; c++) {
        const at = i * columns + c;
        numerators[at] = (numerators[at] ?? 0) + p * (v[j * columns + c] ?? 0);
      }
    }
  }
  for (const divisors of [sums, denominators]) {
    yield ['rescale', 'o', numerators.map((value, e) => value / (divisors[Math.floor(e / columns)] ?? 1))];
  }
}

/** Whether two arrays are equal to about four digits, up to the length of the shorter one. */
function alike(got: ArrayLike<number>, other: Float64Array): boolean {
  const size = other.reduce((most, value) => Math.max(most, Math.abs(value)), 0);
  return other.every((value, e) => Math.abs((got[e] ?? Number.NaN) - value) <= 1e-4 * size);
}

const barriersIn = (program: string): number =>
  (program.replace(/\/\/[^\n]*|\/\*[\s\S]*?\*\//g, '').match(/\bworkgroupBarrier\s*\(/g) ?? []).length;

/**
 * Guesses which slip a visitor has made, from wrong outputs on an input and from the program; null if no
 * known slip fits.
 *
 * @param again the outputs of a second run on the same input.
 */
export function recogniseSlip(
  puzzle: Puzzle,
  input: KernelInput,
  {
    program,
    outputs,
    again,
  }: { readonly program: string; readonly outputs: Outputs; readonly again: Outputs },
): Slip | null {
  for (const [slip, array, values] of made(puzzle, input)) {
    if (alike(outputs.get(array) ?? [], values)) return slip;
  }
  if (barriersIn(program) < puzzle.barriers && /var\s*<\s*workgroup\s*>/.test(program)) return 'barrier';
  for (const [array, values] of outputs) {
    const second = again.get(array);
    if (second && Array.from(values).some((value, e) => !Object.is(value, second[e]))) return 'race';
  }
  return null;
}
