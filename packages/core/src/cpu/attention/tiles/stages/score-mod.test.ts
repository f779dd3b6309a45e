import { describe, expect, test } from 'vitest';
import { normal } from '../../../../../testing/normal.ts';
import { normalise, normaliseBackward } from '../../../../attention/call/normalise.ts';
import type { SdpaBackwardOptions } from '../../../../attention/options/options.ts';
import type { GradientName } from '../../../../attention/problem/problem.ts';
import * as x from '../../../../expr/build.ts';
import { maskMod, scoreMod } from '../../../../expr/mods/mod.ts';
import * as reference from '../../../../reference/index.ts';
import { Tensor } from '../../../../tensor/tensor.ts';
import { createKernels, supportedVariants } from '../../../kernels/host-kernels.ts';
import { backward } from '../../backward/backward.ts';
import { forward } from '../../forward/forward.ts';

const S = 150;
const [q, k, v, dO] = [1, 2, 3, 4].map(seed => normal([2, 2, S, 8], seed));
/** One entry for each distance between a query and the keys before it. */
const table = normal([S], 5);
const heads = normal([2, S], 6);
const every = (n: number) => Array.from({ length: S }, (_, i) => Number(i % n !== 1));
const documents = Tensor.from(
  Array.from({ length: S }, (_, i) => i >> 5),
  [S],
  { dtype: 'i32' },
);
/** A table of distances, which keys after the query would read outside its shape. */
const distance = scoreMod(
  ({ score, q, kv }) => x.add(score, x.mul(x.load('table', [x.sub(q, kv)]), x.load('table', [q]))),
  { table },
);
const before = maskMod(({ q, kv }) => x.le(kv, q));

type Options = SdpaBackwardOptions<Tensor, GradientName>;
const cases: Record<string, Options> = {
  'a function of the score, then softcap, bias and ALiBi': {
    scoreMod: scoreMod(({ score, h }) => x.mul(x.tanh(score), x.add(h, 1.5))),
    ...{
      softcap: 2,
      bias: normal([S, S], 7),
      alibi: [0.1, 0.2],
      gradients: ['dq', 'dk', 'dv', 'dbias', 'dAlibi'],
    },
  },
  'a table that ends at the diagonal of a causal mask': { scoreMod: distance, causal: true },
  'a table that ends at the diagonal of a mask mod': { scoreMod: distance, maskMod: before },
  'a table that ends where a boolean mask does': {
    scoreMod: distance,
    mask: Tensor.from(
      Array.from({ length: S * S }, (_, n) => Number(n % S <= Math.floor(n / S))),
      [S, S],
      { dtype: 'bool' },
    ),
  },
  'a table that ends where a bias becomes −∞': {
    scoreMod: distance,
    bias: Tensor.from(
      Array.from({ length: S * S }, (_, n) => (n % S <= Math.floor(n / S) ? n % 3 : -Infinity)),
      [S, S],
    ),
  },
  'a load behind a condition': {
    scoreMod: scoreMod(
      ({ score, h, q, kv }) =>
        x.select(x.ge(q, kv), x.add(score, x.load('heads', [h, x.sub(q, kv)])), x.mul(score, 0.5)),
      { heads },
    ),
  },
  'documents, with a mask that hides the end of each': {
    maskMod: maskMod(({ q, kv }) => x.eq(x.load('documents', [q], 'i32'), x.load('documents', [kv], 'i32')), {
      documents,
    }),
    mask: Tensor.from(every(7), [S], { dtype: 'bool' }),
  },
  'ids that are read only where the mask shows the key': {
    maskMod: maskMod(({ kv }) => x.ne(x.load('documents', [x.add(kv, 1)], 'i32'), 2), { documents }),
    mask: Tensor.from(
      Array.from({ length: S }, (_, i) => Number(i < S - 1)),
      [S],
      { dtype: 'bool' },
    ),
  },
  'blocks of a block mask': {
    maskMod: before,
    blockMask: Tensor.from([2, 3], [2, 1], { dtype: 'u8' }),
  },
};

function largest(t: Tensor): number {
  return t
    .toFloat64()
    .reduce((most, value) => (Number.isFinite(value) ? Math.max(most, Math.abs(value)) : most), 1);
}

/** The results of the reference for a case, which all variants and tiles share. */
const wanted = new Map<Options, Readonly<Record<string, Tensor>>>();

function exactResults(options: Options): Readonly<Record<string, Tensor>> {
  const known = wanted.get(options);
  if (known) return known;
  const { o, lse } = reference.sdpa(q, k, v, options);
  const { dCaptures, ...gradients } = reference.sdpaBackward({ q, k, v, o, lse, dO }, options);
  const results = { o, lse, ...gradients, ...dCaptures };
  wanted.set(options, results);
  return results;
}

describe.each(supportedVariants())('%s', variant => {
  const kernels = createKernels(variant);

  // Tiles of the second size contain the ends of blocks.
  test.each(
    Object.entries(cases).flatMap(([name, options]) =>
      [
        { rows: 64, columns: 128 },
        { rows: 50, columns: 72 },
      ].map(tiles => ({ name, options, tiles })),
    ),
  )('$name, in tiles of $tiles.rows × $tiles.columns', ({ options, tiles }) => {
    const call = normalise({ q, k, v }, options);
    const { o, lse } = forward(call.problem, call.operands, { kernels, tiles });
    const back = normaliseBackward({ q, k, v, o, lse, dO }, options);
    const { gradients, dCaptures } = backward(back.problem, back.operands, { kernels, tiles });
    const all = exactResults(options);
    const got: Readonly<Record<string, Tensor>> = { o, lse, ...gradients, ...dCaptures };
    expect(Object.keys(got).sort()).toEqual(Object.keys(all).sort());
    for (const [name, t] of Object.entries(all)) {
      const [a, b] = [t.toFloat64(), got[name].toFloat64()];
      const allowed = 1e-5 * largest(t);
      const beyond = [...a.keys()].filter(n => a[n] !== b[n] && !(Math.abs(a[n] - b[n]) < allowed));
      expect(beyond, name).toEqual([]);
    }
  });

  test('a visible pair whose load leaves the table is refused', () => {
    const call = normalise({ q, k, v }, { scoreMod: distance });
    expect(() => forward(call.problem, call.operands, { kernels })).toThrow(
      'captures.table was loaded at [-1], outside its shape [150]',
    );
  });
});
