import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { sharedDir } from '@tilewise/test-data';
import { describe, expect, test } from 'vitest';
import {
  exportedAttention,
  exportedInputs,
  inHeads,
  ModelWriter,
} from '../../../../testing/attention/exported-attention.ts';
import { runOnnx } from '../../../../testing/compare/onnx-session.ts';
import { fromOnnx, toOnnx } from '../index.ts';

/** Expects numbers to be equal to within a fraction of the largest. */
function expectClose(got: Tensor | undefined, wanted: Tensor | undefined, share = 1e-5): void {
  const values = wanted?.toFloat64() ?? new Float64Array();
  const largest = values.reduce((most, x) => Math.max(most, Math.abs(x)), 0);
  expect(got?.shape).toEqual(wanted?.shape);
  const own = got?.toFloat64() ?? new Float64Array();
  const worst = values.reduce((most, x, n) => Math.max(most, Math.abs(x - (own[n] ?? Number.NaN))), 0);
  expect(worst).toBeLessThan(share * largest);
}

const engine = cpuEngine();
const forms = [
  { opset: 14, keyHeads: 4 },
  { opset: 18, keyHeads: 4 },
  { opset: 18, keyHeads: 2 },
  { opset: 18, keyHeads: 1 },
];

describe.each(forms)('attention as operator set $opset writes it, with $keyHeads key heads', form => {
  // No published model of images repeats heads.
  const written = Object.entries(exportedAttention).filter(
    ([name]) => form.keyHeads === 4 || !/^(distances|windows)/.test(name),
  );
  test.each(written)('%s is one partition, with the right results', async (_, write) => {
    const writer = new ModelWriter(form.opset, form.keyHeads);
    const output = write(writer);
    const bytes = writer.model(output);
    const inputs = exportedInputs();
    const model = await fromOnnx(bytes);
    const { graph } = model.graph();
    expect(graph.partitions().filter(({ kind }) => kind.startsWith('sdpa'))).toHaveLength(1);
    const left = new Set(graph.partitions().flatMap(({ kind, ops }) => (kind.startsWith('sdpa') ? [] : ops)));
    const kinds = graph.nodes.filter(({ id }) => left.has(id)).map(({ kind }) => kind);
    expect(kinds.filter(kind => ['MatMul', 'SoftMax', 'Exp'].includes(kind))).toEqual([]);
    // Masks may be expanded, but not keys and values, whose last dimension has 8 channels.
    const expanded = graph.nodes.filter(({ kind }) => kind === 'Expand');
    expect(expanded.filter(({ outputs }) => outputs[0].shape?.at(-1) === 8)).toEqual([]);
    const results = await model.run(engine, inputs);
    const fed = await runOnnx(bytes, inputs, { int64: ['mask'] });
    expectClose(results[output] as Tensor, fed[output]);
    model.release();
  });
});

test('probabilities that are replaced if any key is hidden are not a guarded softmax', async () => {
  const w = new ModelWriter(18);
  const none = w.floats([Number.NEGATIVE_INFINITY]);
  const [q, k, v] = ['q', 'k', 'v'] as const;
  const scores = w.op('MatMul', [q, w.transpose(k, [0, 2, 1])]);
  const seen = w.op('Cast', [w.op('Unsqueeze', ['mask', w.ints([1])])], { to: { int: 9 } });
  const hidden = w.op('Where', [seen, scores, none]);
  const isHidden = w.op('Cast', [w.op('Equal', [hidden, none])], { to: { int: 7 } });
  const rows = w.op('Cast', [w.op('ReduceMax', [isHidden, w.ints([-1])])], { to: { int: 9 } });
  const output = w.op('MatMul', [w.op('Where', [rows, w.floats([0]), w.softmax(hidden)]), v]);
  const bytes = w.model(output);
  const model = await fromOnnx(bytes);
  const results = await model.run(engine, exportedInputs());
  const fed = await runOnnx(bytes, exportedInputs(), { int64: ['mask'] });
  // The second entry hides two keys from each row.
  expect(Array.from((fed[output] as Tensor).toFloat32()).filter(x => x === 0)).toHaveLength(6 * 32);
  expectClose(results[output] as Tensor, fed[output]);
  model.release();
});

test.each([
  ['booleans', 9],
  ['integers', 6],
])('probabilities that are cast to %s and back are not a guarded softmax', async (_, type) => {
  const w = new ModelWriter(18);
  const to = (x: string, element: number) => w.op('Cast', [x], { to: { int: element } });
  const hidden = to(w.op('Unsqueeze', ['mask', w.ints([1])]), 9);
  // The probabilities of such large scores are 1 and 0, and some in between.
  const scores = w.op('Mul', [w.op('MatMul', ['q', w.transpose('k', [0, 2, 1])]), w.floats([20])]);
  const p = w.softmax(w.op('Where', [hidden, w.floats([-1e30]), scores]));
  const guarded = w.op('Where', [hidden, w.floats([0]), to(to(p, type), 1)]);
  const output = w.op('MatMul', [guarded, 'v']);
  const bytes = w.model(output);
  const model = await fromOnnx(bytes);
  const inputs = {
    ...exportedInputs(),
    mask: Tensor.from([1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1], [2, 6], { dtype: 'i32' }),
  };
  const results = await model.run(engine, inputs);
  const fed = await runOnnx(bytes, inputs, { int64: ['mask'] });
  expectClose(results[output] as Tensor, fed[output]);
  model.release();
});

test.each([
  ['repeated keys', 4],
  ['scores of groups', 4],
  ['scores of three dimensions', 3],
])('a factor with more dimensions than %s adds a dimension to the result', async (name, rank) => {
  const w = new ModelWriter(18, 2);
  const [q, k] = ['q', 'k'].map(input => inHeads(w, input)) as [string, string];
  const columns = w.transpose(k, [0, 1, 3, 2]);
  const scores = w.op('MatMul', [q, columns]);
  const own = name === 'repeated keys' ? columns : rank === 4 ? scores : w.reshape(scores, [8, 6, 6]);
  const shape = name === 'repeated keys' ? [1, 2, 4, 8, 6] : rank === 4 ? [1, 2, 4, 6, 6] : [1, 8, 6, 6];
  const output = w.op('Mul', [own, w.floats([0.5], new Array<number>(rank + 1).fill(1))]);
  const bytes = w.model(output, shape);
  const model = await fromOnnx(bytes);
  const results = await model.run(engine, exportedInputs());
  const fed = await runOnnx(bytes, exportedInputs(), { int64: ['mask'] });
  expect(results[output]?.shape).toEqual(shape);
  expectClose(results[output] as Tensor, fed[output]);
  model.release();
});

const models = join(sharedDir() ?? '', 'vectors/models');

describe.skipIf(!existsSync(models))('an exported model that is written again', () => {
  test.each(['gpt2', 'llama', 'bert', 'vit'])('gives the same logits in onnxruntime: %s', async name => {
    const model = await fromOnnx(readFileSync(join(models, name, 'exported.onnx')));
    const feeds = Object.fromEntries(
      model.inputs.map(({ name: input, shape, dtype }) => {
        const extents = shape as readonly number[];
        const count = extents.reduce((n, extent) => n * extent, 1);
        const value = (n: number): number =>
          input === 'attention_mask' ? Number(n % 24 < 20) : dtype === 'f32' ? Math.sin(n) : (7 * n) % 160;
        const numbers = Array.from({ length: count }, (_, n) => value(n));
        return [input, Tensor.from(numbers, extents, { dtype: dtype === 'f32' ? 'f32' : 'i32' })] as const;
      }),
    );
    const { graph, inputs, outputs, bindings } = model.graph();
    const named = [...Object.entries(inputs), ...Object.entries(outputs)];
    const names = Object.fromEntries(named.map(([own, { id }]) => [id, own]));
    const written = toOnnx(graph, { values: bindings, names });
    expect(new TextDecoder('latin1').decode(written).split('Attention_').length).toBeGreaterThan(2);
    const { logits } = await model.run(engine, feeds);
    const again = await runOnnx(written, feeds);
    expectClose(logits as Tensor, again.logits, 1e-4);
    model.release();
  });
});
