import { readFileSync } from 'node:fs';
import { Tensor } from '@tilewise/core';
import { describe, expect, test } from 'vitest';
import { GraphBuilder } from '../../../testing/attention/attention-graph.ts';
import { dropout, traceGraph, type Variable } from '../../frontends/functions/index.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { toTorch } from './index.ts';
import { type TorchOptions, trainingOptionNames } from './options.ts';
import { runtimeFiles } from './runtime-files.ts';

const cut = [['batch', 'sequence'], []] as const;
const extents = { batch: 2, sequence: 6 };

/** The rows of two sequences of six tokens, with four channels. */
function rows(g: GraphBuilder) {
  return g.input([12, 4]);
}

/** Causal attention with dropout, where q, k and v are the same rows. */
function attention(): { readonly g: GraphBuilder; readonly options: TorchOptions } {
  const g = new GraphBuilder();
  const x = rows(g);
  const heads = g.op('StaticReshape', [x], { shape: [2, 6, 2, 2], special_zero: false });
  const q = g.op('StaticTranspose', [heads], { order: [0, 2, 1, 3] });
  const scores = g.op('Multiply', [g.op('MatMul', [q, q], { transpose_b: true }), g.scalar(0.5)]);
  const [i, j] = [-2, -1].map(axis => g.op('GenIndex', [scores], { axis }, 'i32'));
  const seen = g.op('GreaterEqual', [i, j], {}, 'bool');
  const [p] = g.softmax(g.op('Select', [seen, scores, g.scalar(Number.NEGATIVE_INFINITY)]));
  const seed = g.graph.tensor({ name: 'seed', dtype: 'i64', shape: [], property: 'host_scalar' });
  const dropped = g.op('Dropout', [p, seed, g.scalar(3n, 'i64')], { p: 0.25 });
  const o = g.op('StaticTranspose', [g.op('MatMul', [dropped, q])], { order: [0, 2, 1, 3] });
  const y = g.op('StaticReshape', [o], { shape: [12, 4], special_zero: false });
  const loss = g.op('ReduceSum', [g.op('Multiply', [y, rows(g)])], { axes: [0, 1] });
  const constants = new Map(
    Object.entries(g.bindings).flatMap(([id, t]) => (t instanceof Tensor ? [] : [[Number(id), t]])),
  );
  const inputs = g.graph.finalize().inputs.filter(t => g.bindings[t.id] instanceof Tensor);
  const shard = Object.fromEntries(inputs.map(t => [t.id, cut]));
  return { g, options: { name: 'small', constants, loss: loss.id, extents, shard } };
}

test('a graph is a readable module: operations in order, attention as one call', async () => {
  const { g, options } = attention();
  const files = toTorch(g.graph, options);
  await expect(files['small/model.py']).toMatchFileSnapshot('model.expected.py');
});

test('parts of a tensor are views, and rows that others are added to have all their dimensions', () => {
  const g = new GraphBuilder();
  const x = g.input([1, 4, 6]);
  g.op('Slice', [x], { axis: 2, start: 1, size: 3 });
  g.op('Slice', [x], { axis: 1, size: 2, step: 2 });
  g.op('Take', [x, g.input([2], { dtype: 'i32', values: [3, 0] })], { axis: 1 });
  const model = toTorch(g.graph)['exported/model.py'];
  expect(model).toContain('t1 = t0.narrow(2, 1, 3)  # Slice');
  expect(model).toContain('t2 = t0[:, 0:3:2]  # Slice');
  expect(model).toContain('.expand(1, 2, 6)\n');
});

test('an index that may be out of range is read in an axis of one element, too, for its gradient', () => {
  const g = new GraphBuilder();
  const index = g.input([1, 4], { dtype: 'i32' });
  g.op('GatherElements', [g.input([1, 4]), index], { axis: 0 });
  const model = toTorch(g.graph)['exported/model.py'];
  expect(model).toContain('t2 = take(t1, t0, place.positions(4))  # GatherElements');
});

test('the lowest f32, which masks scores, is not written as a shorter number that PyTorch refuses', () => {
  const g = new GraphBuilder();
  const lowest = -(2 ** 128 - 2 ** 104);
  g.op('Select', [g.input([2], { dtype: 'bool', values: [1, 0] }), g.input([2]), g.scalar(lowest)]);
  const constants = new Map([[2, lowest]]);
  const model = toTorch(g.graph, { constants })['exported/model.py'];
  expect(model).toContain(`${lowest}`.replace('e+', 'e'));
});

test('numbers of constants and results have the dtypes of their tensors', () => {
  const g = new GraphBuilder();
  const q = g.input([1, 1, 2, 4]);
  const mask = g.input([1, 1], { dtype: 'bool' });
  const constants = new Map([[mask.id, Tensor.from([1], [1, 1], { dtype: 'bool' })]]);
  const o = g.op('Sdpa', [q, q, q, mask], { operands: 'q k v mask', results: 'o' });
  const index = g.op('GenIndex', [o], { axis: 2 }, 'i32');
  const model = toTorch(g.graph, { constants })['exported/model.py'];
  expect(model).toContain('torch.full((1, 1), True, device=place.device)');
  expect(model).toContain(`"t${index.id}": t${index.id}.int(),`);
});

test('a seed that is a number in the function is a number in the module', () => {
  const dropped = ({ x }: Record<'x', Variable>) => dropout(x, 2n ** 40n + 7n, 3, { p: 0.5 });
  const { graph, constants } = traceGraph(dropped, { x: [8] });
  const files = toTorch(graph, { constants });
  expect(files['exported/model.py']).toContain(`Dropout(0.5, ${2n ** 40n + 7n}, 3)`);
  expect(Object.keys(files)).not.toContain('exported/constants.safetensors');
});

describe('sums over some of the ranks', () => {
  function summed(build: (g: GraphBuilder, sum: LogicalTensor, position: LogicalTensor) => unknown): string {
    const g = new GraphBuilder();
    const [x, position] = [g.input([2, 4, 3]), g.input([4, 3])];
    g.op('Exp', [position]);
    build(g, g.op('ReduceSum', [x], { axes: [1] }), position);
    const shard = { [x.id]: [['batch'], ['sequence'], []], [position.id]: [['sequence'], []] } as const;
    return `${toTorch(g.graph, { extents: { batch: 2, sequence: 4 }, shard })['exported/model.py']}`;
  }

  test('a whole tensor is divided among the ranks that hold the same part of the sum', () => {
    const model = summed((g, sum) => g.op('Add', [sum, g.input([3])]));
    expect(model).toContain(' / place.copies("batch")  # Add');
  });

  test('equal sums of ranks along a role that does not shard the tensor are divided among these', () => {
    const model = summed((g, _, position) => g.op('ReduceSum', [position], { axes: [0] }));
    expect(model).toContain('.sum(0) / place.copies("sequence")  # ReduceSum');
  });

  test('a sum over all ranks cannot meet a tensor that is sharded', () => {
    expect(() =>
      summed((g, sum, position) => {
        const all = g.op('ReduceSum', [position], { axes: [0], keep_dims: true });
        return g.op('Add', [sum, all]);
      }),
    ).toThrow('combines a sum over ranks with a tensor that is sharded over these ranks');
  });
});

test('an export has all files that it needs', () => {
  const { g, options } = attention();
  const names = Object.keys(toTorch(g.graph, options)).map(path => path.replace('small/', ''));
  expect(names.sort()).toEqual(['README.md', '__init__.py', 'model.py', ...Object.keys(runtimeFiles)].sort());
});

test('the embedded text is that of the Python files', () => {
  for (const [name, text] of Object.entries(runtimeFiles)) {
    const isSame = text === readFileSync(new URL(`python/${name}`, import.meta.url), 'utf8');
    expect(isSame, `${name}; scripts/embed-python.mjs writes runtime-files.ts anew`).toBe(true);
  }
});

test('weights and large constants are exported as safetensors, scalars as text', () => {
  const g = new GraphBuilder();
  const w = g.input([2, 2]);
  const table = g.input([2, 2]);
  g.op('Add', [g.op('Multiply', [w, g.scalar(0.1)]), table]);
  const [scalar] = Object.entries(g.bindings).find(([, t]) => typeof t === 'number') ?? [];
  const files = toTorch(g.graph, {
    parameters: { 'layer.0.w': w.id },
    constants: new Map<number, Tensor | number>([
      [Number(scalar), 0.1],
      [table.id, g.bindings[table.id] as Tensor],
    ]),
    weights: new Map([['layer.0.w', g.bindings[w.id] as Tensor]]),
    metadata: { step: '7' },
  });
  expect(files['exported/model.py']).toContain(`self.get_parameter("layer.0.w") * 0.1`);
  const header = (path: string): string => new TextDecoder().decode(files[path] as Uint8Array);
  expect(header('exported/weights.safetensors')).toContain('"__metadata__":{"step":"7"},"layer.0.w"');
  expect(header('exported/constants.safetensors')).toContain(`"t${table.id}":{"dtype":"F32"`);
});

test('values by id and by name may be objects instead of maps', () => {
  const g = new GraphBuilder();
  const [w, table] = [g.input([2, 2]), g.input([2, 2])];
  g.op('Add', [w, table]);
  const [weight, constant] = [w, table].map(({ id }) => g.bindings[id] as Tensor);
  const parameters = { 'layer.0.w': w.id };
  const constants = { [table.id]: constant };
  const weights = { 'layer.0.w': weight };
  expect(toTorch(g.graph, { parameters, constants, weights })).toEqual(
    toTorch(g.graph, {
      parameters,
      constants: new Map([[table.id, constant]]),
      weights: new Map(Object.entries(weights)),
    }),
  );
  expect(() => toTorch(g.graph, { weights: [weight] as never })).toThrow(
    'options.weights must be an object or a Map, got Array',
  );
});

type Build = (g: GraphBuilder, x: ReturnType<typeof rows>) => unknown;
const refusals: readonly (readonly [string, Build, RegExp])[] = [
  ['Wildcard', (g, x) => g.op('Wildcard', [x]), /^operation Wildcard 0: has no equivalent in PyTorch/],
  [
    'a product over the sequence',
    (g, x) => g.op('MatMul', [x, x], { transpose_a: true }),
    /^operation MatMul 0: takes products along axis 1, which is sharded: "batch", "sequence"$/,
  ],
  [
    'a softmax over the sequence',
    (g, x) => g.op('SoftMax', [x], { axis: 0 }),
    /^operation SoftMax 0: takes the softmax along axis 0, which is sharded/,
  ],
  [
    'the largest over the sequence',
    (g, x) => g.op('ReduceMax', [x], { axes: [0] }),
    /^operation ReduceMax 0: takes the max along axis 0, which is sharded/,
  ],
  [
    'a norm over the sequence',
    (g, x) => g.op('Exp', [g.op('ReduceSum', [x], { axes: [0] })]),
    /^operation Exp 1: computes 'exp' of a sum over ranks/,
  ],
  [
    'a norm of the sequence',
    (g, x) => g.op('RMSNorm', [x], { begin_norm_axis: 0 }),
    /^operation RMSNorm 0: computes along axis 0, which is sharded: "batch", "sequence"$/,
  ],
  [
    'half of a sequence',
    (g, x) => g.op('StaticReshape', [x], { shape: [2, 3, 2, 4], special_zero: false }),
    /^operation StaticReshape 0: splits the sequence of 6 by 3$/,
  ],
  [
    'a table that is cut',
    (g, x) => g.op('Gather', [x, g.input([3], { dtype: 'i32', values: [0, 1, 2] })]),
    /^operation Gather 0: gathers along axis 0, which is sharded/,
  ],
];

test.each(refusals)('refuses %s by its operation before anything is written', (_, build, message) => {
  const g = new GraphBuilder();
  const x = rows(g);
  build(g, x);
  expect(() => toTorch(g.graph, { shard: { [x.id]: cut }, extents })).toThrow(message);
});

test('errors name the invalid option', () => {
  const g = new GraphBuilder();
  const x = rows(g);
  const y = g.op('Exp', [x]);
  const refused = (options: TorchOptions): string => {
    try {
      toTorch(g.graph, options);
      return 'nothing';
    } catch (error) {
      return String(error);
    }
  };
  expect(refused({ name: '../x' })).toMatch(/options.name must be letters/);
  expect(refused({ parameters: { w: 99 } })).toMatch(/options.parameters has tensor 99/);
  expect(refused({ loss: x.id + 50 })).toMatch(/options.loss must be a result/);
  expect(refused({ shard: { [x.id]: cut } })).toMatch(/options.extents must list the extent of 'batch'/);
  expect(refused({ shard: { [x.id]: [['batch']] }, extents })).toMatch(/options.shard must list the 2 axes/);
  expect(refused({ shard: { [x.id]: [['batch'], []] }, extents })).toMatch(
    /options.shard makes axis 0 of tensor 0 2, but it has 12/,
  );
  expect(refused({ loss: y.id })).toMatch(/options.loss must be one number, got a tensor of shape \[12,4\]/);
  expect(refused({})).toBe('nothing');
});

test('training takes the options of the command line, each with a value of one line', () => {
  const g = new GraphBuilder();
  g.op('Exp', [rows(g)]);
  const declared = [...runtimeFiles['train.py'].matchAll(/add_argument\(\s*"--([\w-]+)"/g)];
  expect(trainingOptionNames).toEqual(declared.map(([, name]) => name));
  const training = { lr: 1e-3, dir: 'my runs', clip: undefined };
  expect(toTorch(g.graph, { training })['exported/training.args']).toBe('--lr\n0.001\n--dir\nmy runs\n');
  const exported = (options: object) => () => toTorch(g.graph, { training: options });
  expect(exported({ weightDecay: 0.1 })).toThrow(
    "options.training has no 'weightDecay'; did you mean 'weight-decay'?",
  );
  expect(exported({ lr: Number.NaN })).toThrow('options.training.lr must be a finite number or a text');
  expect(exported({ betas: [0.9, 0.999] })).toThrow(
    'options.training.betas must be a finite number or a text',
  );
  expect(exported({ dir: 'a\nb' })).toThrow('options.training.dir must be a finite number or a text');
});
