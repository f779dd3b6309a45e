import { cumulativeLengths, type DType, pack, type SdpaBackwardOptions, Tensor } from '@tilewise/core';
import type { DropoutSchemeName } from '@tilewise/philox';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { type AttentionCall, exactResults, gpuResults, normal } from '../../testing/attention-call.ts';
import { expectAgreement } from '../../testing/expect-agreement.ts';
import { sharedContext } from '../../testing/shared-context.ts';

/** What decides which kernels run; few, as compiling takes longer than anything else here. Numbers are drawn. */
interface Structure {
  readonly dtype: 'f32' | 'f16' | 'bf16';
  /** Head sizes and strides in multiples of four, or any. */
  readonly vectors: boolean;
  /** Keys and values may differ in their number of heads. */
  readonly unequalHeads?: boolean;
  readonly packed?: boolean;
  readonly lengths?: boolean;
  readonly mask?: boolean;
  readonly bias?: DType;
  readonly softcap?: boolean;
  readonly alibi?: boolean;
  readonly sink?: boolean;
  readonly dropout?: DropoutSchemeName;
  readonly dLse?: boolean;
}

const structures: readonly Structure[] = [
  { dtype: 'f32', vectors: true, unequalHeads: true },
  { dtype: 'f32', vectors: false, lengths: true, dLse: true, softcap: true },
  { dtype: 'f16', vectors: true, mask: true, bias: 'f16', lengths: true, dropout: 'onednn' },
  { dtype: 'bf16', vectors: false, packed: true, alibi: true, sink: true, dropout: 'flash-attention-2' },
];

const bound = fc.option(fc.integer({ min: 0, max: 40 }), { nil: undefined });
const numbers = fc.record({
  B: fc.integer({ min: 1, max: 3 }),
  Hk: fc.constantFrom(1, 2),
  Hv: fc.constantFrom(1, 2),
  Sq: fc.integer({ min: 1, max: 70 }),
  Skv: fc.integer({ min: 1, max: 70 }),
  Dqk: fc.integer({ min: 1, max: 31 }),
  Dv: fc.integer({ min: 1, max: 31 }),
  layout: fc.constantFrom('BHSD' as const, 'BSHD' as const, 'gaps' as const),
  scale: fc.double({ min: -0.5, max: 0.5, noNaN: true }),
  causal: fc.constantFrom(false, 'top-left' as const, 'bottom-right' as const),
  left: bound,
  right: bound,
  seed: fc.nat(),
});
type Numbers = typeof numbers extends fc.Arbitrary<infer T> ? T : never;

/** B numbers in [0, extent]; 0 and the whole extent are among them now and then. */
function drawLengths(B: number, extent: number, seed: number): number[] {
  return [...normal([B], seed).toFloat64()].map(x =>
    Math.min(extent, Math.floor(Math.abs(x) * extent * 0.7)),
  );
}

/** The same elements, laid out otherwise. */
function laidOut(t: Tensor, layout: Numbers['layout'], unit: number): Tensor {
  const [, H, S, D] = t.shape;
  if (layout === 'BHSD') return t;
  if (layout === 'BSHD') return t.permute(0, 2, 1, 3).contiguous().permute(0, 2, 1, 3);
  const row = D + unit;
  const head = S * row + unit;
  return Tensor.from(t.toFloat64(), t.shape, { dtype: t.dtype, strides: [H * head + unit, head, row, 1] });
}

/** Fills what lies beyond the lengths with NaN. */
function poisoned(t: Tensor, lengths: readonly number[]): Tensor {
  lengths.forEach((n, b) => {
    const rest = t.slice(0, b, b + 1).slice(2, n, t.shape[2]);
    for (const at of rest.offsets()) t.data[at] = t.dtype === 'f32' ? NaN : 0x7fff;
  });
  return t;
}

function callOf(structure: Structure, drawn: Numbers): AttentionCall {
  const { dtype, packed, lengths, bias, dropout } = structure;
  const { B, Hk, Sq, Skv, layout, scale, causal, left, right, seed } = drawn;
  const Hv = structure.unequalHeads ? drawn.Hv : Hk;
  const Hq = 2 * Math.max(Hk, Hv);
  const unit = structure.vectors ? 4 : 1;
  const [Dqk, Dv] = [drawn.Dqk, drawn.Dv].map(D => Math.ceil(D / unit) * unit);
  const lengthsQ = packed || lengths ? drawLengths(B, Sq, seed + 1) : new Array<number>(B).fill(Sq);
  const lengthsKv = packed || lengths ? drawLengths(B, Skv, seed + 2) : new Array<number>(B).fill(Skv);
  const operand = (n: number, H: number, S: number, D: number, valid: readonly number[]): Tensor => {
    const t = normal([B, H, S, D], seed + n, dtype);
    return packed ? pack(t, valid).packed : laidOut(poisoned(t, valid), layout, unit);
  };
  const options: SdpaBackwardOptions<Tensor> = {
    scale,
    causal,
    window: left === undefined && right === undefined ? undefined : { left, right },
    mask: structure.mask
      ? Tensor.from(
          normal([B, 1, Sq, Skv], seed + 3)
            .toFloat32()
            .map(x => Number(x > -0.8)),
          [B, 1, Sq, Skv],
          { dtype: 'bool' },
        )
      : undefined,
    bias: bias ? normal([Sq, 1], seed + 4, bias) : undefined,
    softcap: structure.softcap ? 3 : undefined,
    alibi: structure.alibi ? [...normal([Hq], seed + 5).toFloat64()].map(x => Math.abs(x) / 8) : undefined,
    sink: structure.sink ? normal([Hq], seed + 6) : undefined,
    dropout: dropout && { p: 0.3, seed: BigInt(seed) << 20n, offset: 2n ** 32n - 5n, scheme: dropout },
    outputs: { max: true, sumExp: true },
    ...(packed && { cuSeqLensQ: cumulativeLengths(lengthsQ), cuSeqLensKv: cumulativeLengths(lengthsKv) }),
    ...(lengths && { seqLensQ: lengthsQ, seqLensKv: lengthsKv }),
  };
  const dLse = structure.dLse ? normal([B, Hq, Sq], seed + 7) : undefined;
  return {
    q: operand(8, Hq, Sq, Dqk, lengthsQ),
    k: operand(9, Hk, Skv, Dqk, lengthsKv),
    v: operand(10, Hv, Skv, Dv, lengthsKv),
    dO: operand(11, Hq, Sq, Dv, lengthsQ),
    ...(dLse ? { dLse } : {}),
    options,
  };
}

test.each(structures)('random problems agree with the reference: %o', async structure => {
  const ctx = await sharedContext();
  await fc.assert(
    fc.asyncProperty(numbers, async drawn => {
      const call = callOf(structure, drawn);
      const exact = exactResults(call);
      expectAgreement(await gpuResults(ctx, call, exact), exact, { distance: 70 });
    }),
    { numRuns: 12 },
  );
});

test('the structures are run on more than one tile of queries and keys', () => {
  const drawn = fc.sample(numbers, { numRuns: 12, seed: 1 });
  expect(drawn.some(({ Sq, Skv }) => Sq > 32 && Skv > 32)).toBe(true);
});
