import {
  type Engine,
  elementCount,
  type SdpaOptions,
  Tensor,
  type TensorDesc,
  UnsupportedError,
} from '@tilewise/core';
import {
  and,
  andMasks,
  type BlockMask,
  blockMaskBits,
  causalMask,
  createBlockMask,
  documentMask,
  eq,
  ge,
  le,
  load,
  lt,
  type Mod,
  maskMod,
  or,
  prefixLmMask,
  slidingWindowMask,
  sub,
} from '@tilewise/core/expr';
import { sdpaFloat64 } from '@tilewise/core/reference';
import { PhiloxStream } from '@tilewise/philox';
import type { BlockMaskCase } from '@tilewise/test-data';
import type { Outcome } from '../../cases/case.ts';

/** The lengths of the documents in PyTorch's examples, for cases that give none. */
const usualDocuments = [100, 156, 7, 200, 49];

/** Masks by name, with their numbers. */
const masks: readonly { readonly says: RegExp; readonly make: (...numbers: number[]) => Mod<Tensor> }[] = [
  { says: /^noop$/, make: () => maskMod(() => true) },
  { says: /^causal$/, make: causalMask },
  { says: /^inverse_causal$/, make: () => maskMod(({ q, kv }) => le(q, kv)) },
  {
    says: /^sliding_causal_(\d+)$/,
    make: reach => maskMod(({ q, kv }) => and(ge(q, kv), le(sub(q, kv), reach))),
  },
  { says: /^sliding_(\d+)$/, make: reach => slidingWindowMask({ left: reach, right: reach }) },
  { says: /^prefix_lm_(\d+)$/, make: prefixLmMask },
  { says: /^document(?:\(([\d,]+)\))?$/, make: documents },
  { says: /^document_causal$/, make: () => andMasks<Tensor>(documents(), causalMask()) },
  { says: /^dead_rows_q_lt_half$/, make: () => maskMod(({ q }) => lt(q, 256)) },
  { says: /^per_head_causal_or_full$/, make: () => maskMod(({ h, q, kv }) => or(eq(h, 1), ge(q, kv))) },
  {
    says: /^per_batch_len$/,
    make: () => maskMod(({ b, kv }) => lt(kv, load('lengths', [b], 'i32')), { lengths: i32([200, 400]) }),
  },
];

/** The mask with a name; null if the name is unknown. */
function maskOf(name: string): Mod<Tensor> | null {
  for (const { says, make } of masks) {
    const found = says.exec(name);
    if (found)
      return make(...found.slice(1).flatMap(list => (list ?? '').split(',').filter(Boolean).map(Number)));
  }
  return null;
}

function documents(...lengths: number[]): Mod<Tensor> {
  const listed = lengths.length > 0 ? lengths : usualDocuments;
  return documentMask(i32(listed.flatMap((length, id) => new Array<number>(length).fill(id))));
}

function i32(values: readonly number[]): Tensor {
  return Tensor.from(values, [values.length], { dtype: 'i32' });
}

/** The allowed error of o: sums over some hundred keys in f32, of values of order 1. */
const allowed = 1e-5;

/**
 * Compares the blocks that a mask leaves visible with PyTorch's, and then attention with the mask and its
 * blocks with attention with the mask alone.
 */
export async function runBlockMask<T extends TensorDesc>(
  engine: Engine<T>,
  c: BlockMaskCase,
): Promise<Outcome> {
  const mask = maskOf(c.mask);
  if (!mask) return { status: 'fail', error: null, reason: `the mask ${c.mask} is not known to the runner` };
  const { B, H: Hq, qLen: Sq, kvLen: Skv, blockSize } = c;
  const blocks = createBlockMask(mask, { B, Hq, Sq, Skv, blockSize });
  const wrong = difference(blocks, c);
  if (wrong) return { status: 'fail', error: null, reason: wrong };
  try {
    const off = await errorOfAttention(engine, c, { maskMod: mask, blockMask: blockMaskBits(blocks) }, mask);
    const reason = `the blocks match PyTorch's; o is off by ${off.toExponential(2)}`;
    return { status: off <= allowed ? 'pass' : 'fail', error: off / allowed, reason };
  } catch (error) {
    if (!(error instanceof UnsupportedError)) throw error;
    return { status: 'unsupported', error: null, reason: error.reasons.join('; ') };
  }
}

function difference(blocks: BlockMask, c: BlockMaskCase): string | null {
  for (const side of ['kv', 'fullKv', 'q', 'fullQ'] as const) {
    const counts = blocks[`${side}NumBlocks`];
    const indices = blocks[`${side}Indices`];
    const [, , , most] = indices.shape;
    const lists = Array.from(counts.data, (count, row) => [
      ...indices.data.slice(row * most, row * most + count),
    ]);
    const got = JSON.stringify(lists);
    const want = JSON.stringify(c[`${side}Indices`].flat(2));
    if (got !== want) return `${side}Indices are ${got}, where ${want} is expected`;
    const wantCounts = c[`${side}NumBlocks`].flat(2);
    if (String(counts.data) !== String(wantCounts))
      return `${side}NumBlocks are ${counts.data}, where ${wantCounts} is expected`;
  }
  const off = Math.abs(blocks.sparsity - c.sparsityPct);
  return off < 1e-4 ? null : `the sparsity is ${blocks.sparsity}, expected ${c.sparsityPct}`;
}

async function errorOfAttention<T extends TensorDesc>(
  engine: Engine<T>,
  { B, H, qLen, kvLen }: BlockMaskCase,
  options: SdpaOptions<Tensor>,
  mask: Mod<Tensor>,
): Promise<number> {
  const stream = new PhiloxStream(1n);
  const tensor = (S: number): Tensor => {
    const shape = [B ?? 1, H ?? 1, S, 8];
    const count = elementCount(shape);
    return Tensor.from(
      Float64Array.from({ length: count }, () => stream.nextNormal()),
      shape,
    );
  };
  const [q, k, v] = [tensor(qLen), tensor(kvLen), tensor(kvLen)];
  const expected = sdpaFloat64(q, k, v, { maskMod: mask }).o.values;
  const held = [q, k, v].map(t => engine.upload(t));
  const [gq, gk, gv] = held;
  try {
    const { o, lse } = await engine.sdpa(gq, gk, gv, options as SdpaOptions<T>);
    held.push(o, lse);
    const actual = (await engine.download(o)).toFloat64();
    return actual.reduce((most, x, i) => Math.max(most, Math.abs(x - expected[i])), 0);
  } finally {
    for (const t of new Set(held)) engine.release(t);
  }
}
