import { fillNormal } from '@tilewise/philox';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { normalise, normaliseBackward } from '../attention/normalise.ts';
import type { SdpaOptions } from '../attention/options.ts';
import { add, mul } from '../expr/build.ts';
import { dilatedMask } from '../expr/mask-mods.ts';
import { scoreMod } from '../expr/mod.ts';
import { relativeBiasMod } from '../expr/score-mods.ts';
import { sdpa as exactSdpa, sdpaBackward as exactSdpaBackward } from '../reference/sdpa.ts';
import type { DType } from '../tensor/dtype.ts';
import { Tensor } from '../tensor/tensor.ts';
import { backward } from './backward.ts';
import { forward } from './forward.ts';

const shapes = fc
  .record({
    B: fc.integer({ min: 1, max: 2 }),
    Hk: fc.constantFrom(1, 2),
    Hv: fc.constantFrom(1, 2),
    group: fc.constantFrom(1, 2),
    Sq: fc.integer({ min: 1, max: 21 }),
    Skv: fc.integer({ min: 1, max: 27 }),
    Dqk: fc.integer({ min: 1, max: 11 }),
    Dv: fc.integer({ min: 1, max: 11 }),
  })
  .map(({ group, ...shape }) => ({ ...shape, Hq: group * Math.max(shape.Hk, shape.Hv) }));
const dtypes = fc.constantFrom('f32' as const, 'f16' as const, 'bf16' as const);
const layouts = fc.constantFrom('BHSD' as const, 'BSHD' as const, 'gaps' as const, 'packed' as const);
const alignments = fc.constantFrom('top-left' as const, 'bottom-right' as const);
const bounds = fc.integer({ min: 0, max: 9 });
/** Which dimensions of a (B, Hq, Sq, Skv) tensor are not broadcast. */
const broadcasts = fc.tuple(fc.boolean(), fc.boolean(), fc.boolean(), fc.boolean());
const asked = fc.record(
  {
    scale: fc.double({ min: -1, max: 1, noNaN: true }),
    causal: fc.boolean(),
    align: alignments,
    window: fc.record({ left: bounds, right: bounds }, { requiredKeys: [] }),
    mask: broadcasts,
    bias: broadcasts,
    alibi: fc.boolean(),
    softcap: fc.double({ min: 0.5, max: 10, noNaN: true }),
    scoreMod: fc.constantFrom('parity' as const, 'table' as const),
    maskMod: fc.boolean(),
    sink: fc.boolean(),
    lengths: fc.constantFrom('q' as const, 'kv' as const, 'both' as const),
    dropout: fc.constantFrom(
      'torch-efficient' as const,
      'flash-attention-2' as const,
      'onednn' as const,
      'mask' as const,
    ),
    dLse: fc.boolean(),
  },
  { requiredKeys: [] },
);
type Asked = typeof asked extends fc.Arbitrary<infer T> ? T : never;
const tileSizes = fc.record({ rows: fc.integer({ min: 1, max: 9 }), columns: fc.constantFrom(4, 8, 12) });

/** Reproducible numbers around 0 and everything else that is drawn. */
function createSource(seed: number) {
  let subsequence = 0;
  const normal = (count: number): Float32Array =>
    fillNormal(new Float32Array(count), { seed, subsequence: BigInt(subsequence++) });
  const size = (shape: readonly number[]): number => shape.reduce((n, extent) => n * extent, 1);
  return {
    floats: (shape: readonly number[], dtype: 'f32' | 'f16' | 'bf16' = 'f32') =>
      Tensor.from(normal(size(shape)), shape, { dtype }),
    bools: (shape: readonly number[]) =>
      Tensor.from(
        normal(size(shape)).map(x => Number(x > -0.5)),
        shape,
        { dtype: 'bool' },
      ),
    slopes: (Hq: number) =>
      Tensor.from(
        normal(Hq).map(x => Math.abs(x) / 4),
        [Hq],
      ),
    lengths: (B: number, extent: number) =>
      [...normal(B)].map(x => Math.floor((Math.abs(x) * 1e4) % (extent + 1))),
  };
}
type Source = ReturnType<typeof createSource>;

function inLayout(
  t: Tensor,
  layout: 'BHSD' | 'BSHD' | 'gaps' | 'packed',
  lengths: readonly number[],
): Tensor {
  const [B, H, S, D] = t.shape;
  const { dtype } = t;
  if (layout === 'BHSD') return t;
  if (layout === 'gaps') {
    const strides = [H * (S + 2) * (2 * D + 1), (S + 2) * (2 * D + 1), 2 * D + 1, 2];
    return Tensor.from(t.toFloat64(), t.shape, { dtype, strides });
  }
  const tokensFirst = t.permute(0, 2, 1, 3);
  if (layout === 'BSHD')
    return Tensor.from(tokensFirst.toFloat64(), [B, S, H, D], { dtype }).permute(0, 2, 1, 3);
  const rows = lengths.flatMap((n, b) => [
    ...tokensFirst
      .slice(0, b, b + 1)
      .slice(1, 0, n)
      .toFloat64(),
  ]);
  return Tensor.from(rows, [rows.length / (H * D), H, D], { dtype });
}

function cumulative(lengths: readonly number[]): number[] {
  const sums = [0];
  for (const n of lengths) sums.push(sums[sums.length - 1] + n);
  return sums;
}

/** The NaN that a padded position may hold. */
function poisoned(t: Tensor, lengths: readonly number[] | undefined): Tensor {
  lengths?.forEach((n, b) => {
    const rest = t.slice(0, b, b + 1).slice(2, n, t.shape[2]);
    for (const at of rest.offsets())
      rest.data[at] = t.dtype === 'f16' ? 0x7e00 : t.dtype === 'bf16' ? 0x7fc0 : NaN;
  });
  return t;
}

function mods(name: 'parity' | 'table', Hq: number, source: Source) {
  if (name === 'table') return relativeBiasMod(source.floats([Hq, 5]));
  return scoreMod<Tensor>(({ score, q }) => add(mul(score, 0.5), mul(q, -0.125)));
}

function buildCall(
  { B, Hq, Hk, Hv, Sq, Skv, Dqk, Dv }: { readonly [name: string]: number },
  dtype: 'f32' | 'f16' | 'bf16',
  layout: 'BHSD' | 'BSHD' | 'gaps' | 'packed',
  want: Asked,
  source: Source,
) {
  const lengthsQ = source.lengths(B, Sq);
  const lengthsKv = source.lengths(B, Skv);
  const packed = layout === 'packed';
  const hasQ = want.lengths === 'q' || want.lengths === 'both';
  const hasKv = want.lengths === 'kv' || want.lengths === 'both';
  const maxQ = packed ? Math.max(...lengthsQ) : Sq;
  const maxKv = packed ? Math.max(...lengthsKv) : Skv;
  const cut = (flags: readonly boolean[]) => [B, Hq, maxQ, maxKv].map((n, d) => (flags[d] ? n : 1));
  const full = [B, Hq, maxQ, maxKv];
  const { dropout } = want;
  const options: SdpaOptions = {
    scale: want.scale,
    causal: want.causal && (want.align ?? true),
    window: (want.window || want.align) && { ...want.window, align: want.align },
    mask: want.mask && source.bools(cut(want.mask)),
    bias: want.bias && source.floats(cut(want.bias)),
    alibi: want.alibi && source.slopes(Hq),
    softcap: want.softcap,
    scoreMod: want.scoreMod && mods(want.scoreMod, Hq, source),
    maskMod: want.maskMod ? dilatedMask(2) : undefined,
    sink: want.sink ? source.floats([Hq]) : undefined,
    ...(packed && { cuSeqLensQ: cumulative(lengthsQ), cuSeqLensKv: cumulative(lengthsKv) }),
    ...(!packed && hasQ && { seqLensQ: lengthsQ }),
    ...(!packed && hasKv && { seqLensKv: lengthsKv }),
    dropout:
      dropout === 'mask'
        ? { mask: source.bools(full), p: 0.25 }
        : dropout && { p: 0.25, seed: 5, offset: 3, scheme: dropout },
    outputs: { max: true, sumExp: true, dropoutMask: true },
  };
  const at = (t: Tensor, lengths: readonly number[]) => inLayout(t, layout, lengths);
  const q = poisoned(source.floats([B, Hq, Sq, Dqk], dtype), packed || !hasQ ? undefined : lengthsQ);
  const k = poisoned(source.floats([B, Hk, Skv, Dqk], dtype), packed || !hasKv ? undefined : lengthsKv);
  const v = poisoned(source.floats([B, Hv, Skv, Dv], dtype), packed || !hasKv ? undefined : lengthsKv);
  const dO = source.floats([B, Hq, Sq, Dv], dtype);
  return {
    q: at(q, lengthsQ),
    k: at(k, lengthsKv),
    v: at(v, lengthsKv),
    dO: at(dO, lengthsQ),
    dLse: want.dLse ? (shape: readonly number[]) => source.floats(shape) : undefined,
    options,
  };
}

const unit: Readonly<Partial<Record<DType, number>>> = { f16: 2 ** -10, bf16: 2 ** -7 };

/**
 * The f32 gates of the golden cases: 1e-5 of the largest value forward, 2e-5 backward. Scores stay below 80, so that rounding
 * them to f32 puts an error of at most 80·2^-24 = 5e-6, relative, on each probability and ds; it is by far the largest one.
 * dAlibi weighs each ds by a distance, of at most 27, before it sums. A result stored in fewer bits may round to the
 * neighbour: one unit in the last place more.
 */
const gates = { forward: 1e-5, backward: 2e-5, dAlibi: 27 * 2e-5 };

function expectClose(got: Tensor | undefined, want: Tensor | undefined, name: string, bound: number): void {
  expect(got?.shape, name).toEqual(want?.shape);
  expect(got?.dtype, name).toBe(want?.dtype);
  if (!got || !want) return;
  const a = got.toFloat64();
  const b = want.toFloat64();
  const M = b.reduce((most, x) => (Number.isFinite(x) ? Math.max(most, Math.abs(x)) : most), 1);
  const allowed = M * (bound + (unit[want.dtype] ?? 0));
  for (let n = 0; n < a.length; n++) {
    if (!Object.is(a[n], b[n]) && !(Math.abs(a[n] - b[n]) <= allowed)) {
      expect.fail(`${name}[${n}] is ${a[n]}, the reference has ${b[n]}, allowed ${allowed}`);
    }
  }
}

test('random problems agree with the reference, forward and backward, in tiles of any size', () => {
  fc.assert(
    fc.property(
      shapes,
      dtypes,
      layouts,
      asked,
      tileSizes,
      fc.nat(),
      (shape, dtype, layout, want, tiles, seed) => {
        const source = createSource(seed);
        const { q, k, v, dO, dLse: makeDLse, options } = buildCall(shape, dtype, layout, want, source);
        const call = normalise({ q, k, v }, options);
        const got = forward(call.problem, call.operands, { tiles });
        const exact = exactSdpa(q, k, v, options);
        for (const name of ['o', 'lse', 'max', 'sumExp', 'dropoutMask'] as const) {
          expectClose(got[name], exact[name], name, gates.forward);
        }

        const { o, lse } = exact;
        const inputs = { q, k, v, o, lse, dO, dLse: makeDLse?.(lse.shape) };
        const back = normaliseBackward(inputs, options);
        const { gradients, dCaptures } = backward(back.problem, back.operands, { tiles });
        const { dCaptures: exactCaptures, ...exactGradients } = exactSdpaBackward(inputs, options);
        expect(Object.keys(gradients).sort()).toEqual(Object.keys(exactGradients).sort());
        for (const name of ['dq', 'dk', 'dv', 'dbias', 'dsink', 'dAlibi'] as const) {
          expectClose(
            gradients[name],
            exactGradients[name],
            name,
            name === 'dAlibi' ? gates.dAlibi : gates.backward,
          );
        }
        expect(Object.keys(dCaptures ?? {})).toEqual(Object.keys(exactCaptures ?? {}));
        for (const [name, want] of Object.entries(exactCaptures ?? {})) {
          expectClose(dCaptures?.[name], want, name, gates.backward);
        }
      },
    ),
    { numRuns: 300, seed: 20 },
  );
});
