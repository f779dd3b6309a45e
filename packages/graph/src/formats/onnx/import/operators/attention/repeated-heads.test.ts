import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { runOnnx } from '../../../../../../testing/compare/onnx-session.ts';
import { fromOnnx } from '../../../index.ts';
import { encodeModel, type OnnxNode } from '../../../model.ts';

const [B, Hq, Hk, S, D] = [2, 6, 2, 5, 8];

/** Nodes that repeat each head of k or v for three query heads, as exporters write it. */
const repeated = (name: string): OnnxNode[] =>
  [
    { op: 'Unsqueeze', inputs: [name, 'axis'], to: `${name}1` },
    { op: 'Expand', inputs: [`${name}1`, 'wide'], to: `${name}2` },
    { op: 'Reshape', inputs: [`${name}2`, 'whole'], to: `${name}3` },
  ].map(({ op, inputs, to }) => ({ op, name: to, inputs, outputs: [to], attributes: {} }));

test('the operator Attention reads each repeated key and value head once', async () => {
  const ints = (name: string, list: readonly number[]) => {
    const data = new Uint8Array(BigInt64Array.from(list, BigInt).buffer);
    return { name, type: 7, shape: [list.length], data };
  };
  const shapes = { q: [B, Hq, S, D], k: [B, Hk, S, D], v: [B, Hk, S, D] };
  const bytes = encodeModel({
    ...{ name: 'repeated', opset: 23 },
    nodes: [
      ...repeated('k'),
      ...repeated('v'),
      { op: 'Attention', name: 'o', inputs: ['q', 'k3', 'v3'], outputs: ['o'], attributes: {} },
    ],
    initializers: [ints('axis', [2]), ints('wide', [B, Hk, Hq / Hk, S, D]), ints('whole', [B, Hq, S, D])],
    inputs: Object.entries(shapes).map(([name, shape]) => ({ name, type: 1, shape })),
    outputs: [{ name: 'o', type: 1, shape: null }],
  });
  const model = await fromOnnx(bytes);
  const { graph } = model.graph();
  expect(graph.nodes.map(({ kind }) => kind)).toEqual(['Sdpa']);
  const feeds = Object.fromEntries(
    Object.entries(shapes).map(([name, shape], seed) => {
      const count = shape.reduce((n, extent) => n * extent, 1);
      const values = Float32Array.from({ length: count }, (_, n) => Math.sin(1.3 * n * n + seed));
      return [name, Tensor.from(values, shape)] as const;
    }),
  );
  const { o } = await model.run(cpuEngine(), feeds);
  const wanted = (await runOnnx(bytes, feeds)).o?.toFloat32() ?? [];
  const got = o?.toFloat32() ?? [];
  expect(got).toHaveLength(wanted.length);
  got.forEach((x, n) => {
    expect(x, `o[${n}]`).toBeCloseTo(wanted[n] ?? Number.NaN, 5);
  });
  model.release();
});
