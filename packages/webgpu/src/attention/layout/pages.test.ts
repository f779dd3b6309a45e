import { cumulativeLengths, Tensor, toPages } from '@tilewise/core';
import { sdpa as exactSdpa, sdpaBackward as exactSdpaBackward } from '@tilewise/core/reference';
import { describe, expect, test } from 'vitest';
import { normal } from '../../../testing/attention/attention-call.ts';
import { expectAgreement } from '../../../testing/attention/expect-agreement.ts';
import { sharedContext } from '../../../testing/device/shared-context.ts';
import { type GpuTensor, sdpa, sdpaBackward } from '../../index.ts';

const [B, Hq, Hk, Sq, Skv, Dqk, Dv] = [2, 4, 2, 9, 44, 12, 8];
const [q, k, v, dO] = [
  normal([B, Hq, Sq, Dqk], 1),
  normal([B, Hk, Skv, Dqk], 2),
  normal([B, Hk, Skv, Dv], 3),
  normal([B, Hq, Sq, Dv], 4),
];
const seqLensKv = [Skv, 19];
const options = { seqLensKv, causal: 'bottom-right' } as const;
const exact = exactSdpa(q, k, v, options);

/**
 * Block j of sequence b is block j·B + b, as in cuDNN's tests; the last block belongs to no sequence and
 * holds NaN.
 */
function paged(t: Tensor, pageSize: number, order: 'HND' | 'NHD'): { container: Tensor; table: Tensor } {
  const { container, table } = toPages(t, pageSize, (b, page) => page * B + b);
  const [blocks, H, , D] = container.shape;
  const strides = order === 'HND' ? [H * pageSize * D, pageSize * D, D, 1] : [pageSize * H * D, D, H * D, 1];
  const all = Tensor.from(
    new Float32Array((blocks + 1) * H * pageSize * D).fill(Number.NaN),
    [blocks + 1, H, pageSize, D],
    { strides },
  );
  const values = container.toFloat32();
  let n = 0;
  for (const at of all.slice(0, 0, blocks).offsets()) all.data[at] = values[n++];
  return { container: all, table };
}

/** The pages that the sequences use, one sequence after the other. */
function packedTable(table: Tensor, pageSize: number): { table: Tensor; cuPages: number[] } {
  const counts = seqLensKv.map(n => Math.ceil(n / pageSize));
  const used = counts.flatMap((count, b) => Array.from({ length: count }, (_, page) => table.get(b, page)));
  return { table: Tensor.from(used, [used.length], { dtype: 'i32' }), cuPages: cumulativeLengths(counts) };
}

describe('paged keys and values give the results of dense ones', () => {
  test.each([1, 2, 16, 64, 1024])('with pages of %i', async pageSize => {
    const ctx = await sharedContext();
    const [pk, pv] = [paged(k, pageSize, 'HND'), paged(v, pageSize, 'NHD')];
    const { o, lse } = sdpa(ctx, ctx.upload(q), ctx.upload(pk.container), ctx.upload(pv.container), {
      ...options,
      ...{ pageTableK: pk.table, pageTableV: pv.table, maxSeqLenKv: Skv },
    });
    expectAgreement({ o: await ctx.download(o), lse: await ctx.download(lse) }, { ...exact });
  });

  test('on one side only, with a table in columns', async () => {
    const ctx = await sharedContext();
    const pv = paged(v, 8, 'HND');
    const table = ctx.upload(Tensor.from(pv.table.toFloat64(), [B, 6], { dtype: 'u32', strides: [1, B] }));
    const { o } = sdpa(ctx, ctx.upload(q), ctx.upload(k), ctx.upload(pv.container), {
      ...options,
      pageTableV: table,
    });
    expectAgreement({ o: await ctx.download(o) }, { o: exact.o });
  });

  test('with packed tables', async () => {
    const ctx = await sharedContext();
    const [pk, pv] = [paged(k, 4, 'HND'), paged(v, 8, 'HND')];
    const [tableK, tableV] = [packedTable(pk.table, 4), packedTable(pv.table, 8)];
    const { o, lse } = sdpa(ctx, ctx.upload(q), ctx.upload(pk.container), ctx.upload(pv.container), {
      ...options,
      ...{ pageTableK: tableK.table, cuPagesK: tableK.cuPages },
      ...{ pageTableV: tableV.table, cuPagesV: tableV.cuPages },
    });
    expectAgreement({ o: await ctx.download(o), lse: await ctx.download(lse) }, { ...exact });
  });
});

test('backward reads pages and gives the gradients of operands that are not paged', async () => {
  const ctx = await sharedContext();
  const given = { q, o: exact.o, lse: exact.lse, dO };
  const upload = <T extends object>(tensors: T): { [K in keyof T]: GpuTensor } =>
    Object.fromEntries(Object.entries(tensors).map(([name, t]) => [name, ctx.upload(t)])) as {
      [K in keyof T]: GpuTensor;
    };
  const [pk, pv] = [paged(k, 8, 'HND'), paged(v, 8, 'NHD')];
  const wanted = { ...options, gradients: ['dq', 'dk', 'dv'] } as const;
  const { dq, dk } = exactSdpaBackward({ ...given, k, v }, wanted);

  const both = sdpaBackward(ctx, upload({ ...given, k: pk.container, v: pv.container }), {
    ...options,
    ...{ pageTableK: pk.table, pageTableV: pv.table, maxSeqLenKv: Skv, gradients: ['dq'] },
  });
  expectAgreement({ dq: await ctx.download(both.dq) }, { dq });
  const one = sdpaBackward(ctx, upload({ ...given, k, v: pv.container }), {
    ...options,
    ...{ pageTableV: pv.table, gradients: ['dk'] },
  });
  expectAgreement({ dk: await ctx.download(one.dk) }, { dk });
});

test('an invalid table on the GPU reads nothing outside the container', async () => {
  const ctx = await sharedContext();
  const ones = Tensor.from(new Float32Array(3 * Hk * 16 * Dv).fill(1), [3, Hk, 16, Dv]);
  const garbage = Tensor.from([-1, 2 ** 31 - 1, 3, 7, -(2 ** 31), 2], [2, 3], { dtype: 'i32' });
  const cuPages = Tensor.from([-5, 2 ** 30, 3], [3], { dtype: 'i32' });
  const lengths = ctx.upload(Tensor.from([Skv, Skv], [2], { dtype: 'i32' }));
  for (const pages of [
    { pageTableV: ctx.upload(garbage) },
    { pageTableV: ctx.upload(garbage.reshape([6])), cuPagesV: ctx.upload(cuPages) },
  ]) {
    const tensors = [q, k, ones].map(t => ctx.upload(t));
    const [gq, gk, gv] = tensors;
    const { o } = sdpa(ctx, gq, gk, gv, { seqLensKv: lengths, ...pages });
    const values = (await ctx.download(o)).toFloat32();
    expect(values.every(x => Math.abs(x - 1) < 1e-5)).toBe(true);
  }
});
