import { Tensor } from '@tilewise/core';
import { referenceEngine } from '@tilewise/core/reference';
import { createContext, webgpuEngine } from '@tilewise/webgpu';
import { countingDevice } from '@tilewise/webgpu-host';
import { describe, expect, test } from 'vitest';
import { GraphBuilder } from '../../testing/attention/attention-graph.ts';
import { expectClose } from '../../testing/compare/expect-same.ts';
import { sdpa, sdpaBackward, sdpaFp8, sdpaFp8Backward } from '../frontends/cudnn/index.ts';
import type { LogicalTensor } from '../ir/tensor/logical-tensor.ts';

const [H, D, T] = [2, 8, 9];

/** Two sequences of 3 and 4 tokens, with a row outside all sequences between them and another at the end. */
function packed(b: GraphBuilder) {
  const offsets = b.input([3, 1, 1, 1], { dtype: 'i32', values: [0, 4 * H * D, 8 * H * D] });
  const lengths = b.input([2, 1, 1, 1], { dtype: 'i32', values: [3, 4] });
  const ragged = { q: offsets, k: offsets, v: offsets, o: offsets };
  return {
    ...{ usePaddingMask: true, seqLenQ: lengths, seqLenKv: lengths, maxSeqLenQ: 4, maxSeqLenKv: 4 },
    raggedOffsets: { ...ragged, dO: offsets, dq: offsets, dk: offsets, dv: offsets },
  };
}

const scalars = (b: GraphBuilder, values: Readonly<Record<string, number>>) =>
  Object.fromEntries(
    Object.entries(values).map(([name, x]) => [name, b.input([1, 1, 1, 1], { values: [x] })]),
  );

const graphs: Readonly<Record<string, (b: GraphBuilder) => void>> = {
  'packed sequences with rows between them': b => {
    const [q, k, v] = [0, 1, 2].map(() => b.input([T, H, D]));
    const { raggedOffsets, ...others } = packed(b);
    const { q: ofQ, k: ofK, v: ofV, o: ofO } = raggedOffsets;
    sdpa(b.graph, {
      ...{ q, k, v, ...others, raggedOffsets: { q: ofQ, k: ofK, v: ofV, o: ofO } },
      ...{ attnScale: 0.3, generateStats: true, scoreMax: true, scoreSumExp: true },
    });
  },
  'sequences packed by cumulative lengths, which end before the tensor does': b => {
    const [q, k, v] = [0, 1, 2].map(() => b.input([T, H, D]));
    const cumulative = b.input([3, 1, 1, 1], { dtype: 'i32', values: [0, 3, 7] });
    sdpa(b.graph, {
      ...{ q, k, v, usePaddingMask: true, cuSeqLenQ: cumulative, cuSeqLenKv: cumulative },
      ...{ maxSeqLenQ: 4, maxSeqLenKv: 4, generateStats: true },
    });
  },
  'gradients of packed sequences': b => {
    const [q, k, v, o, dO] = [0, 1, 2, 3, 4].map(() => b.input([T, H, D]));
    const stats = b.input([2, H, 4, 1], { values: new Array(2 * H * 4).fill(2) });
    sdpaBackward(b.graph, { q, k, v, o, dO, stats, ...packed(b), attnScale: 0.3 });
  },
  '8 bits, scales and largest values': b => {
    const [q, k, v] = [0, 1, 2].map(() => b.input([1, H, T, D], { dtype: 'f8e4m3' }));
    const scales = { descaleQ: 2, descaleK: 0.5, descaleV: 4, descaleS: 1 / 32, scaleS: 32, scaleO: 8 };
    const { descaleQ, descaleK, descaleV, descaleS, scaleS, scaleO } = scalars(b, scales);
    sdpaFp8(b.graph, {
      ...{ q, k, v, descaleQ, descaleK, descaleV, descaleS, scaleS, scaleO },
      ...{ attnScale: 0.25, diagonalBandRightBound: 0, generateStats: true },
    });
  },
  'gradients in 8 bits': b => {
    const [q, k, v, o, dO] = [0, 1, 2, 3, 4].map(() => b.input([1, H, T, D], { dtype: 'f8e4m3' }));
    const stats = b.input([1, H, T, 1], { values: new Array(H * T).fill(2) });
    const scales = {
      ...{ descaleQ: 2, descaleK: 0.5, descaleV: 4, descaleO: 1 / 8, descaleDO: 2, descaleS: 1 / 32 },
      ...{ descaleDP: 1 / 16, scaleS: 32, scaleDP: 16, scaleDQ: 4, scaleDK: 4, scaleDV: 4 },
    };
    const made = scalars(b, scales) as Record<keyof typeof scales, LogicalTensor>;
    sdpaFp8Backward(b.graph, { q, k, v, o, dO, stats, ...made, attnScale: 0.25, gradDType: 'f16' });
  },
};

describe('attention as one operation is encoded in place, without a buffer for it', () => {
  test.each(Object.entries(graphs))('%s', async (_, write) => {
    const { device, counts } = await countingDevice();
    const ctx = await createContext({ device });
    const b = new GraphBuilder();
    write(b);
    b.graph.finalize();
    const compiled = b.graph.compile(webgpuEngine(ctx));
    // No result contains the earlier contents of its memory.
    const outputs = compiled.outputs.map(({ id, dtype, shape }) => {
      const garbage = new Array((shape ?? []).reduce((n, extent) => n * extent, 1)).fill(7);
      return [id, ctx.upload(Tensor.from(garbage, shape ?? [], { dtype: dtype as 'f32' }))] as const;
    });
    const inputs = Object.entries(b.bindings).map(([id, t]) => [id, ctx.upload(t as Tensor)] as const);
    const bindings = { ...Object.fromEntries(inputs), ...Object.fromEntries(outputs) };

    const encoder = device.createCommandEncoder();
    compiled.encode(encoder, bindings);
    const before = { ...counts };
    compiled.encode(encoder, bindings);
    expect(counts).toEqual(before);
    device.queue.submit([encoder.finish()]);

    const expected = await b.graph.run(referenceEngine(), b.bindings);
    const made: Record<number, Tensor> = {};
    for (const [id, tensor] of outputs) made[id] = await ctx.download(tensor);
    expectClose(made, expected, 1e-5, 'webgpu');
    compiled.release();
    ctx.destroy();
  });
});
