import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { toOnnx } from '@tilewise/graph/onnx';
import { gather, matmul, tanh, traceGraph, transpose, type Variable } from '@tilewise/graph/ops';
import { expect, test } from 'vitest';
import { drawWeights, filesOf, tinyLlama } from '../../../testing/tiny-model.ts';
import { readModel } from '../../architectures/read-model.ts';
import { loadModel } from '../../load-model.ts';
import { mergeAdapter } from '../../lora/merge-adapter.ts';
import { labelledTensors } from '../../model/labels.ts';
import { logitsOf } from '../../model/logits.ts';
import { describeAll } from '../../model/model.ts';
import { weightScope } from '../../model/weights.ts';
import { dropoutPlaces } from '../../training/loss.ts';
import { createTrainer } from '../../training/trainer.ts';
import { loadOnnxModel } from './load-onnx-model.ts';

const engine = cpuEngine();
const rows = [
  [1, 2, 3, 4, 5],
  [6, 7, 8, 0, 0],
];
const labels = [
  [1, 2, 3, 4, 5],
  [6, 7, 8, -100, -100],
];
const batch = { inputs: { tokens: rows }, labels };
const tied = { ...tinyLlama, tie_word_embeddings: true };
const lora = { rank: 2, alpha: 4, dropout: 0, targets: ['q_proj', 'v_proj'], rankStabilised: false };

/**
 * A tiny Llama as an ONNX model. `change` rewrites the weights as an exporter might: it makes a variable of
 * the function from the tensor in the file.
 */
function exported(
  config: Readonly<Record<string, unknown>>,
  names: (name: string) => string = name => `m.${name}`,
): { bytes: Uint8Array; weights: ReadonlyMap<string, Tensor> } {
  const weights = drawWeights(config);
  const table = weights.get('model.embed_tokens.weight') as Tensor;
  const [rows = 0, columns = 0] = table.shape;
  const values32 = table
    .toFloat32()
    .map((_, n, all) => all[(n % rows) * columns + Math.floor(n / rows)] ?? 0);
  const held = new Map([...weights, ['head', Tensor.from(values32, [columns, rows])]]);
  const definition = readModel(config);
  const specs = {
    ...describeAll(Object.fromEntries(held)),
    tokens: { shape: [2, 5], dtype: 'i32' as const },
  };
  const logits = (given: Readonly<Record<string, Variable>>): Variable => {
    let reads = 0;
    // The head is the second reader of the embedding table.
    const scope = weightScope(given);
    return logitsOf(definition)(
      {
        ...scope,
        parameter: (name, shape, initial) =>
          name === 'model.embed_tokens.weight' && reads++ > 0
            ? transpose(given.head as Variable, [1, 0])
            : scope.parameter(name, shape, initial),
      },
      given,
    );
  };
  const { graph, inputs, constants } = traceGraph(logits, specs);
  const values: Record<number, Tensor> = Object.fromEntries(constants);
  const tensorNames: Record<number, string> = {};
  for (const [name, { id }] of Object.entries(inputs)) {
    const tensor = held.get(name);
    if (tensor) values[id] = tensor;
    tensorNames[id] = tensor ? names(name) : 'input_ids';
  }
  return { bytes: toOnnx(graph, { values, names: tensorNames }), weights };
}

test('a model of ONNX computes and trains as the model that it was exported from', async () => {
  const { bytes, weights } = exported(tied);
  const [published, imported] = await Promise.all([
    loadModel(filesOf(tied, weights), { engine }),
    loadOnnxModel(bytes, { engine, labels: 'next', prefix: 'm.' }),
  ]);
  // Constants of the model, such as rotary tables, are not trained.
  expect([...imported.weights.keys()].sort()).toEqual([...published.weights.keys()].sort());
  const [wanted, got] = await Promise.all([published, imported].map(model => model.logits(batch.inputs)));
  got?.toFloat32().forEach((x, n) => {
    expect(x).toBeCloseTo(wanted?.toFloat32()[n] as number, 5);
  });
});

test.each([undefined, lora])(
  'with the adapter %j, losses are those of the published model',
  async adapter => {
    const { bytes, weights } = exported(tied);
    const [published, imported] = await Promise.all([
      loadModel(filesOf(tied, weights), { engine }),
      loadOnnxModel(bytes, { engine, labels: 'next', prefix: 'm.' }),
    ]);
    const losses = await Promise.all(
      [published, imported].map(async model => {
        const trainer = createTrainer(model, { learningRate: 0.02, lora: adapter, seed: 3 });
        const found: number[] = [];
        for (let n = 0; n < 4; n++) found.push((await trainer.step(batch)).loss);
        return found;
      }),
    );
    losses[0]?.forEach((loss, n) => {
      expect(losses[1]?.[n]).toBeCloseTo(loss, 4);
    });
    expect(losses[1]?.[3]).toBeLessThan(losses[1]?.[0] as number);
    if (!adapter) return;
    const before = await imported.logits(batch.inputs);
    await mergeAdapter(imported);
    (await imported.logits(batch.inputs)).toFloat32().forEach((x, n) => {
      expect(x).toBeCloseTo(before.toFloat32()[n] as number, 4);
    });
  },
);

test('an adapter of a tied head is not merged, and the model keeps it', async () => {
  const imported = await loadOnnxModel(exported(tied).bytes, { engine, labels: 'next', prefix: 'm.' });
  const targets = ['q_proj', 'head'];
  const trainer = createTrainer(imported, { learningRate: 0.02, lora: { ...lora, targets } });
  for (let n = 0; n < 2; n++) await trainer.step(batch);
  const before = (await imported.logits(batch.inputs)).toFloat32();
  await expect(mergeAdapter(imported)).rejects.toThrow("has no weight 'head.weight' of its own");
  expect((await imported.logits(batch.inputs)).toFloat32()).toEqual(before);
});

test('autocast is refused, because the graph decides the dtypes', async () => {
  await expect(
    loadOnnxModel(exported(tied).bytes, { engine, labels: 'next', prefix: 'm.', autocast: 'f16' }),
  ).rejects.toThrow("autocast must be absent for imported graphs, got 'f16'");
});

test('an input that cannot be derived from a batch is refused by name', async () => {
  const { bytes } = exported(tied);
  const model = await loadOnnxModel(bytes, { engine, labels: 'same' });
  await expect(model.logits({ tokens: [[1, 2, 3]] })).rejects.toThrow(
    "input 'input_ids' is declared as [2, 5]",
  );
  await expect(loadOnnxModel(bytes, { engine, labels: 'same', output: 'no' })).rejects.toThrow(
    'output must be one of',
  );
});

test('each use of a layer draws its own dropout', async () => {
  const shapes = { 'embed.weight': [11, 4], 'shared.weight': [4, 4], 'head.weight': [4, 11] };
  const weights = Object.entries(shapes).map(([name, shape]) => {
    const values = Array.from({ length: shape[0] * shape[1] }, (_, n) => Math.sin(n * n + shape[1]));
    return [name, Tensor.from(values, shape)] as const;
  });
  const { graph, inputs, results } = traceGraph(
    ({ input_ids: tokens, ...w }: Readonly<Record<string, Variable>>) => {
      const once = tanh(matmul(gather(w['embed.weight'], tokens), w['shared.weight']));
      return matmul(matmul(once, w['shared.weight']), w['head.weight']);
    },
    { input_ids: { shape: [2, 5], dtype: 'i32' }, ...shapes },
  );
  const named = Object.entries(inputs).map(([name, { id }]) => [id, name] as const);
  const bytes = toOnnx(graph, {
    names: Object.fromEntries([...named, [results[0].id, 'logits']]),
    values: Object.fromEntries(weights.map(([name, tensor]) => [inputs[name].id, tensor])),
  });
  const model = await loadOnnxModel(bytes, { engine, labels: 'next' });
  const trainer = createTrainer(model, {
    learningRate: 0.01,
    lora: { rank: 2, alpha: 4, targets: ['shared'], dropout: 0.5 },
  });
  const [tensors] = labelledTensors(model.definition, [batch]);
  expect(dropoutPlaces(model, describeAll(tensors))).toBe(2);
  await trainer.step(batch);
  model.release();
});
