import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { encodeSafetensors, Tensor } from '@tilewise/core';
import { referenceEngine } from '@tilewise/core/reference';
import { fullPython, hasModule, runPython, writeFiles } from '@tilewise/test-data/python';
import { expect, test } from 'vitest';
import { GraphBuilder } from '../../../testing/attention/attention-graph.ts';
import { gradients } from '../../gradients.ts';
import { toJax } from './index.ts';
import { runtimeFiles } from './runtime-files.ts';

const [B, S, H, D] = [2, 16, 2, 4];
const rows = B * S;

/** A product with a weight, causal attention with dropout over rows of tokens, and the sum of its results. */
function attention() {
  const g = new GraphBuilder();
  const x = g.input([rows, H * D]);
  const w = g.input([H * D, H * D]);
  const projected = g.op('MatMul', [x, w]);
  const heads = g.op('StaticReshape', [projected], { shape: [B, S, H, D], special_zero: false });
  const q = g.op('StaticTranspose', [heads], { order: [0, 2, 1, 3] });
  const scores = g.op('Multiply', [g.op('MatMul', [q, q], { transpose_b: true }), g.scalar(0.5)]);
  const [i, j] = [-2, -1].map(axis => g.op('GenIndex', [scores], { axis }, 'i32'));
  const seen = g.op('GreaterEqual', [i, j], {}, 'bool');
  const [p] = g.softmax(g.op('Select', [seen, scores, g.scalar(Number.NEGATIVE_INFINITY)]));
  const dropped = g.op('Dropout', [p, g.scalar(2n ** 40n + 7n, 'i64'), g.scalar(3n, 'i64')], { p: 0.25 });
  const o = g.op('StaticTranspose', [g.op('MatMul', [dropped, q])], { order: [0, 2, 1, 3] });
  const y = g.op('StaticReshape', [o], { shape: [rows, H * D], special_zero: false });
  const kept = g.op('Dropout', [y, g.scalar(5n, 'i64'), g.scalar(1n, 'i64')], { p: 0.5 });
  const loss = g.op('ReduceMean', [g.op('Square', [kept])], { axes: [0, 1] });
  const constants = new Map(
    Object.entries(g.bindings).flatMap(([id, t]) => (t instanceof Tensor ? [] : [[Number(id), t]])),
  );
  const options = {
    ...{ name: 'small', constants, loss: loss.id, parameters: { w: w.id } },
    extents: { batch: B, sequence: S },
    shard: { [x.id]: [['batch', 'sequence'], []] as const },
  };
  return { g, x, w, loss, options };
}

test('a graph is a readable function: operations in order, attention as one call', async () => {
  const { g, options } = attention();
  const files = toJax(g.graph, options);
  await expect(files['small/model.py']).toMatchFileSnapshot('model.expected.py');
  const names = Object.keys(files).map(path => path.replace('small/', ''));
  expect(names.sort()).toEqual(['README.md', '__init__.py', ...Object.keys(runtimeFiles), 'model.py'].sort());
});

test('the embedded text is that of the Python files', () => {
  for (const [name, text] of Object.entries(runtimeFiles)) {
    const isSame = text === readFileSync(new URL(`python/${name}`, import.meta.url), 'utf8');
    expect(isSame, `${name}; scripts/embed-python.mjs writes runtime-files.ts anew`).toBe(true);
  }
});

test('refuses an operation that it cannot shard by name', () => {
  const g = new GraphBuilder();
  const x = g.input([rows, 4]);
  g.op('SoftMax', [x], { axis: 0 });
  const shard = { [x.id]: [['batch', 'sequence'], []] as const };
  expect(() => toJax(g.graph, { shard, extents: { batch: B, sequence: S } })).toThrow(
    /^operation SoftMax 0: takes the softmax along axis 0, which is sharded/,
  );
});

const script = `
import os
os.environ["XLA_FLAGS"] = "--xla_force_host_platform_device_count=8"
import json
from small import model
from small.parallel import loss_and_gradients
from small.safetensors import load_safetensors

given = load_safetensors("given.safetensors")[0]
(name,) = model.INPUTS
for mesh, order in [((1, 1), "zigzag"), ((1, 2), "zigzag"), ((1, 4), "contiguous"), ((2, 2), "zigzag"), ((2, 4), "zigzag")]:
    loss, gradients = loss_and_gradients(model, mesh, order)({"w": given["w"]}, {name: given["x"]})
    print(json.dumps([float(loss), float(abs(gradients["w"] - given["dw"]).max())]))
`;

test.skipIf(!(await hasModule('jax', fullPython)))(
  'the loss and the gradients over every mesh are those of the reference, with dropout',
  { timeout: 300_000 },
  async () => {
    const { g, x, w, loss, options } = attention();
    const folder = mkdtempSync(join(tmpdir(), 'tilewise-jax-'));
    writeFiles(folder, toJax(g.graph, options));
    const engine = referenceEngine();
    const results = await g.graph.run(engine, g.bindings);
    const backward = gradients(g.graph, { of: loss, withRespectTo: [w] }).finalize();
    const seed = Tensor.from([1], []);
    const all = { ...g.bindings, ...results, [backward.seeds.get(loss.id)?.id ?? -1]: seed };
    const own = Object.entries(all).filter(([id]) => backward.inputs.some(t => t.id === Number(id)));
    const found = await backward.run(engine, Object.fromEntries(own));
    const bound = (id: number): Tensor => g.bindings[id] as Tensor;
    const given = new Map([
      ['x', bound(x.id)],
      ['w', bound(w.id)],
      ['dw', found[backward.gradients.get(w.id)?.id ?? -1]],
    ]);
    writeFileSync(join(folder, 'given.safetensors'), encodeSafetensors(given));
    const [expected] = results[loss.id].toFloat64();
    const lines = (await runPython(['-c', script], folder)).trim().split('\n');
    expect(lines).toHaveLength(5);
    for (const line of lines) {
      const [value, distance] = JSON.parse(line) as [number, number];
      expect(Math.abs(value - expected)).toBeLessThanOrEqual(1e-5);
      expect(distance).toBeLessThanOrEqual(1e-5);
    }
  },
);
