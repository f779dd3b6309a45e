import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { referenceEngine } from '@tilewise/core/reference';
import { expect, test } from 'vitest';
import { GraphBuilder } from '../../../testing/attention/attention-graph.ts';
import { formatJson } from '../../formats/json/write.ts';
import { Graph } from '../../graph.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { sdpa, sdpaBackward, sdpaFp8, sdpaFp8Backward } from './index.ts';

const [B, H, S, D] = [2, 2, 4, 8];

function operands(dtype: 'f32' | 'f8e4m3' = 'f32') {
  const b = new GraphBuilder();
  const [q, k, v] = [0, 1, 2].map(() => b.input([B, H, S, D], { dtype }));
  const bound = (t: LogicalTensor): Tensor => b.bindings[t.id] as Tensor;
  return { b, q, k, v, bound };
}

const numbers = (t: Tensor): number[] => [...t.toFloat64()];
const close = (a: Tensor, e: Tensor, digits = 5): void => {
  expect(numbers(a).length).toBe(e.shape.reduce((n, extent) => n * extent, 1));
  numbers(e).forEach((x, n) => {
    if (numbers(a)[n] !== x) expect(numbers(a)[n]).toBeCloseTo(x, digits);
  });
};

test("every result of forward has cuDNN's shape", async () => {
  const { b, q, k, v, bound } = operands();
  const node = sdpa(b.graph, {
    ...{ q, k, v, generateStats: true, statsUseLog2: true, scoreMax: true, scoreSumExp: true, rngDump: true },
    dropout: [0.4, b.scalar(7n, 'i64'), b.scalar(0n, 'i64')],
    name: 'layer0',
  });
  const expected = await referenceEngine().sdpa(bound(q), bound(k), bound(v), {
    scale: 1,
    dropout: { p: 0.4, seed: 7, scheme: 'onednn' },
    outputs: { max: true, sumExp: true, dropoutMask: true },
  });
  const results = await b.graph.run(cpuEngine(), b.bindings);
  const of = (t: LogicalTensor | undefined): Tensor => results[t?.id ?? -1];
  close(of(node.o), expected.o);
  expect(of(node.stats).shape).toEqual([B, H, S, 1]);
  numbers(expected.lse).forEach((x, n) => {
    expect(numbers(of(node.stats))[n]).toBeCloseTo(x * Math.LOG2E, 5);
  });
  close(of(node.scoreMax), expected.max ?? expected.lse);
  close(of(node.scoreSumExp), expected.sumExp ?? expected.lse);
  expect(of(node.rngDump).dtype).toBe('f32');
  expect(numbers(of(node.rngDump))).toEqual(numbers(expected.dropoutMask ?? expected.lse));
});

test('a row that sees no key has o = 0 and stats −∞', async () => {
  const { b, q, k, v } = operands();
  const lengths = [0, 2].map(n => b.input([B, 1, 1, 1], { dtype: 'i32', values: [n, S] }));
  const node = sdpa(b.graph, {
    q,
    k,
    v,
    usePaddingMask: true,
    seqLenQ: lengths[1],
    seqLenKv: lengths[0],
    generateStats: true,
  });
  const results = await b.graph.run(cpuEngine(), b.bindings);
  expect(numbers(results[node.stats?.id ?? -1]).slice(0, H * S)).toEqual(new Array(H * S).fill(-Infinity));
  expect(numbers(results[node.o.id]).slice(0, H * S * D)).toEqual(new Array(H * S * D).fill(0));
});

test('the gradients of bias and sink have the shapes of bias and sink', async () => {
  const { b, q, k, v, bound } = operands();
  const bias = b.input([1, 1, S, S]);
  const sinkToken = b.input([1, H, 1, 1]);
  const asked = { scale: 1, bias: bound(bias), sink: bound(sinkToken).reshape([H]) };
  const { o, lse } = await referenceEngine().sdpa(bound(q), bound(k), bound(v), asked);
  const [dO, oInput] = [b.input([B, H, S, D]), b.input([B, H, S, D], { values: o.toFloat64() })];
  const stats = b.input([B, H, S, 1], { values: lse.toFloat64() });
  const node = sdpaBackward(b.graph, {
    ...{ q, k, v, o: oInput, dO, stats, bias, sinkToken },
    ...{ dBias: true, dSinkToken: true, useDeterministicAlgorithm: true },
  });
  const expected = await referenceEngine().sdpaBackward(
    { q: bound(q), k: bound(k), v: bound(v), o, lse, dO: bound(dO) },
    { ...asked, gradients: ['dbias', 'dsink'] },
  );
  const results = await b.graph.run(cpuEngine(), b.bindings);
  const [dBias, dSink] = [node.dBias, node.dSinkToken].map(t => results[t?.id ?? -1]);
  expect([dBias.shape, dSink.shape]).toEqual([bias.shape, sinkToken.shape]);
  close(dBias, expected.dbias ?? o);
  close(dSink, expected.dsink ?? o);
});

test('packed sequences, with separate ragged offsets for each tensor', async () => {
  const b = new GraphBuilder();
  const [q, k, v] = [0, 1, 2].map(() => b.input([5, H, D]));
  const offsets = b.input([3, 1, 1, 1], { dtype: 'i32', values: [0, 2 * H * D, 5 * H * D] });
  const lengths = b.input([2, 1, 1, 1], { dtype: 'i32', values: [2, 3] });
  const bound = (t: LogicalTensor): Tensor => b.bindings[t.id] as Tensor;
  const node = sdpa(b.graph, {
    ...{ q, k, v, usePaddingMask: true, seqLenQ: lengths, seqLenKv: lengths, generateStats: true },
    ...{ raggedOffsets: { q: offsets, k: offsets, v: offsets, o: offsets }, maxSeqLenQ: 3, maxSeqLenKv: 3 },
  });
  const at = [0, 2 * H * D, 5 * H * D];
  const expected = await referenceEngine().sdpa(bound(q), bound(k), bound(v), {
    ...{ scale: 1, seqLensQ: [2, 3], seqLensKv: [2, 3], raggedOffsets: { q: at, k: at, v: at, o: at } },
  });
  const results = await b.graph.run(cpuEngine(), b.bindings);
  expect(results[node.o.id].shape).toEqual([5, H, D]);
  close(results[node.o.id], expected.o);
  expect(results[node.stats?.id ?? -1].shape).toEqual([2, H, 3, 1]);
  close(results[node.stats?.id ?? -1], expected.lse);
});

test('FP8, forward and backward, with its scales in tensors', async () => {
  const { b, q, k, v, bound } = operands('f8e4m3');
  const scale = (value: number): LogicalTensor => b.input([1, 1, 1, 1], { values: [value] });
  const forward = { descaleQ: 2, descaleK: 0.5, descaleV: 4, descaleS: 1 / 32, scaleS: 32, scaleO: 8 };
  const scales = Object.fromEntries(Object.entries(forward).map(([name, x]) => [name, scale(x)]));
  const node = sdpaFp8(b.graph, {
    ...{ q, k, v, attnScale: 0.25, diagonalBandRightBound: 0, generateStats: true },
    ...(scales as Record<keyof typeof forward, LogicalTensor>),
  });
  const asked = { scale: 0.25, causal: true, fp8: forward } as const;
  const inputs = { q: bound(q), k: bound(k), v: bound(v) };
  const expected = await referenceEngine().sdpa(inputs.q, inputs.k, inputs.v, {
    ...asked,
    outputs: { amaxS: true, amaxO: true },
  });
  const results = await b.graph.run(referenceEngine(), b.bindings);
  expect(numbers(results[node.o.id])).toEqual(numbers(expected.o));
  for (const name of ['amaxS', 'amaxO'] as const) {
    expect(results[node[name].id].shape).toEqual([1, 1, 1, 1]);
    expect(numbers(results[node[name].id])).toEqual(numbers(expected[name] ?? expected.o));
  }

  const g = new GraphBuilder();
  const input = (t: Tensor): LogicalTensor => g.input(t.shape, { dtype: t.dtype, values: t.toFloat64() });
  const [q2, k2, v2, o] = [inputs.q, inputs.k, inputs.v, expected.o].map(input);
  const dO = g.input([B, H, S, D], { dtype: 'f8e4m3' });
  const stats = g.input([B, H, S, 1], { values: expected.lse.toFloat64() });
  const { scaleO: _, ...common } = forward;
  const back = {
    ...common,
    ...{ descaleO: 1 / 8, descaleDO: 2, descaleDP: 1 / 16, scaleDP: 16, scaleDQ: 4, scaleDK: 4, scaleDV: 4 },
  };
  const backScales = Object.fromEntries(
    Object.entries(back).map(([name, x]) => [name, g.input([1, 1, 1, 1], { values: [x] })]),
  );
  const gradients = sdpaFp8Backward(g.graph, {
    ...{
      q: q2,
      k: k2,
      v: v2,
      o,
      dO,
      stats,
      attnScale: 0.25,
      diagonalBandRightBound: 0,
      gradDType: 'f16' as const,
    },
    ...(backScales as Record<keyof typeof back, LogicalTensor>),
  });
  const wanted = await referenceEngine().sdpaBackward(
    { ...inputs, o: expected.o, lse: expected.lse, dO: g.bindings[dO.id] as Tensor },
    {
      ...{ scale: 0.25, causal: true, fp8: back, gradDType: 'f16', gradients: ['dq', 'dk', 'dv'] },
      outputs: { amaxDQ: true, amaxDK: true, amaxDV: true, amaxDP: true },
    },
  );
  const made = await g.graph.run(referenceEngine(), g.bindings);
  for (const name of ['dq', 'dk', 'dv', 'amaxDQ', 'amaxDK', 'amaxDV', 'amaxDP'] as const) {
    expect(numbers(made[gradients[name].id]), name).toEqual(numbers(wanted[name] ?? expected.o));
  }
});

test('a node of either kind survives JSON', async () => {
  for (const implementation of ['unified', 'composite'] as const) {
    const { b, q, k, v } = operands();
    const node = sdpa(b.graph, {
      q,
      k,
      v,
      implementation,
      attnScale: 0.3,
      diagonalBandLeftBound: 2,
      diagonalBandRightBound: 0,
    });
    const again = Graph.fromJSON(formatJson(b.graph));
    const [one, other] = [b.graph, again].map(graph => graph.run(cpuEngine(), b.bindings));
    expect(numbers((await other)[node.o.id])).toEqual(numbers((await one)[node.o.id]));
  }
});

test('an attention operation by itself is checked like any other', () => {
  const { b, q, k, v } = operands();
  const o = b.graph.tensor({ dtype: 'f32' });
  const add =
    (attrs: Record<string, string>, outputs = [o]) =>
    () =>
      b.graph.op('Sdpa', {
        attrs: { operands: 'q k v', results: 'o', ...attrs },
        inputs: [q, k, v],
        outputs,
      });
  expect(add({ operands: 'q k values' })).toThrow("cannot contain 'values'");
  expect(add({ operands: 'q k k' })).toThrow("names a tensor twice: 'q k k'");
  expect(add({ operands: 'q k bias' })).toThrow("needs the operand 'v'");
  expect(add({ results: 'o lse' })).toThrow("must name all 1 tensors, got 'o lse'");
  expect(add({ results: 'dq' })).toThrow("cannot contain 'dq'");
  expect(add({ score_mod: '{' })).toThrow("attribute 'score_mod' must be a flattened expression in JSON");
});

test('lists of numbers may be bound with any strides', async () => {
  const { b, q, k, v, bound } = operands();
  const lengths = b.input([B], { dtype: 'i32', values: [1, 3] });
  const sink = b.input([H]);
  const o = b.graph.tensor({ dtype: 'f32' });
  const inputs = [q, k, v, lengths, sink];
  const attrs = { operands: 'q k v seqLensKv sink', results: 'o' };
  b.graph.op('Sdpa', { attrs, inputs, outputs: [o] });
  const options = { seqLensKv: bound(lengths), sink: bound(sink) };
  const expected = await referenceEngine().sdpa(bound(q), bound(k), bound(v), options);
  for (const { id } of [lengths, sink]) {
    const { dtype, shape } = b.bindings[id] as Tensor;
    b.bindings[id] = Tensor.from(numbers(b.bindings[id] as Tensor), shape, { dtype, strides: [3] });
  }
  for (const engine of [referenceEngine(), cpuEngine()])
    close((await b.graph.run(engine, b.bindings))[o.id], expected.o);
});
