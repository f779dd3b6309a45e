import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { formatJson } from './formats/json/write.ts';
import { toOnnx } from './formats/onnx/export/to-onnx.ts';
import { gradients } from './gradients.ts';
import { Graph } from './graph.ts';
import { inferShapes } from './ir/infer.ts';
import { storageDesc } from './ir/tensor/storage.ts';
import { runInF32 } from './runtime/run-in-f32.ts';

const engine = cpuEngine({ threads: 1 });

/** y = exp(x), and calls that JavaScript allows but the types forbid. */
function example() {
  const g = new Graph();
  const x = g.tensor({ dtype: 'f32', shape: [2] });
  const y = g.tensor({ dtype: 'f32' });
  g.op('Exp', { inputs: [x], outputs: [y] });
  return { g, x, y };
}
const none = undefined as never;

test.each<[string, (call: ReturnType<typeof example>) => unknown, string]>([
  ['tensor()', ({ g }) => g.tensor(none), 'options must be an object, got undefined'],
  [
    'tensor({ shape: 2 })',
    ({ g }) => g.tensor({ dtype: 'f32', shape: 2 as never }),
    'shape must hold integers ≥ 0, or −1 where unknown, got 2',
  ],
  [
    'tensor({ strides: 1 })',
    ({ g }) => g.tensor({ dtype: 'f32', shape: [2], strides: 1 as never }),
    'strides must be one integer ≥ 0 for each extent, got 1',
  ],
  ['op(kind)', ({ g }) => g.op('MatMul', none), 'options must be an object, got undefined'],
  [
    'op without inputs',
    ({ g, y }) => g.op('Exp', { inputs: none, outputs: [y] }),
    'operation Exp 1: its inputs must be an array of tensors, got undefined',
  ],
  [
    'op on one tensor without a list',
    ({ g, x, y }) => g.op('Exp', { inputs: x as never, outputs: [y] }),
    'operation Exp 1: its inputs must be an array of tensors, got Object',
  ],
  [
    'op on no tensor',
    ({ g, x }) => g.op('Exp', { inputs: [x], outputs: [null as never] }),
    'operation Exp 1: its outputs must be an array of tensors, got null',
  ],
  [
    'op with null as attributes',
    ({ g, x, y }) => g.op('Exp', { attrs: null as never, inputs: [x], outputs: [y] }),
    'attrs must be an object, got null',
  ],
  [
    'partitions of an unknown policy',
    ({ g }) => g.finalize().partitions({ policy: 'x' as never }),
    "policy must be 'fusion' or 'debug', got \"x\"",
  ],
  [
    'partitions(null)',
    ({ g }) => g.finalize().partitions(null as never),
    'options must be an object, got null',
  ],
  [
    'compile()',
    ({ g }) => g.compile(none),
    'engine must be an engine, such as cpuEngine() or webgpuEngine(ctx), got undefined',
  ],
  [
    'compile for a value that is not an engine',
    ({ g }) => g.compile({} as never),
    'engine must be an engine, such as cpuEngine() or webgpuEngine(ctx), got Object',
  ],
  [
    'compile(engine, null)',
    ({ g }) => g.compile(engine, null as never),
    'options must be an object, got null',
  ],
  [
    'compile for inputs that are not a record',
    ({ g }) => g.compile(engine, { inputs: 3 as never }),
    'options.inputs must be an object, got 3',
  ],
  [
    'compile with the shape of a tensor of another graph',
    ({ g }) => g.compile(engine, { inputs: { 9: { shape: [2] } } }),
    "options.inputs has '9', which is the id of no tensor of the graph",
  ],
  [
    'compile with a trace that enters nothing',
    ({ g }) => g.compile(engine, { trace: {} as never }),
    'options.trace.enter must be a function, got undefined',
  ],
  [
    'compile for an engine that prepares nothing',
    ({ g }) => g.compile({ ...engine, primitives: {} } as never),
    'engine must be an engine, such as',
  ],
  [
    'compile of a partition with null as options',
    ({ g }) =>
      g
        .finalize()
        .partitions()[0]
        .compile(engine, null as never),
    'options must be an object, got null',
  ],
  ['new Graph(null)', () => new Graph(null as never), 'header must be an object, got null'],
  ['formatJson()', () => formatJson(none), 'graph must be a Graph, got undefined'],
  ['toOnnx()', () => toOnnx(none), 'graph must be a Graph, got undefined'],
  ['toOnnx(g, null)', ({ g }) => toOnnx(g, null as never), 'options must be an object, got null'],
  ['inferShapes()', () => inferShapes(none, new Map()), 'order must be an array of operations'],
  ['inferShapes([])', () => inferShapes([], none), 'known must be a Map of shapes, got undefined'],
  ['storageDesc()', () => storageDesc(none), 'tensor must be an object, got undefined'],
  [
    'gradients(null)',
    ({ x, y }) => gradients(none, { of: y, withRespectTo: [x] }),
    'forward must be a Graph, got undefined',
  ],
  ['gradients(g)', ({ g }) => gradients(g.finalize(), none), 'options must be an object, got undefined'],
  [
    'gradients with respect to nothing',
    ({ g, y }) => gradients(g.finalize(), { of: y, withRespectTo: none }),
    'withRespectTo must be an array of tensors, got undefined',
  ],
  [
    'gradients of nothing',
    ({ g, x }) => gradients(g.finalize(), { of: none, withRespectTo: [x] }),
    'of, withRespectTo must be tensors of the graph, got undefined',
  ],
])('%s is refused by name', (_, call, message) => {
  const made = example();
  expect(() => call(made)).toThrow(message);
  expect(() => call(made)).toThrow(expect.objectContaining({ code: expect.stringMatching(/^INVALID_/) }));
});

test.each([undefined, null, [], 3])('execution of %o as bindings is refused', async bindings => {
  const { g } = example();
  const refused = 'bindings must be an object, got';
  await expect(async () => g.compile(engine).execute(bindings as never)).rejects.toThrow(refused);
  const [partition] = g.partitions();
  await expect(async () => partition.compile(engine).execute(bindings as never)).rejects.toThrow(refused);
  await expect(partition.run(engine, bindings as never)).rejects.toThrow(refused);
  await expect(runInF32(g, engine, bindings as never)).rejects.toThrow(refused);
});

test('only tensors can be bound', async () => {
  const { g, x } = example();
  await expect(g.run(engine, { [x.id]: null as never })).rejects.toThrow(
    /^tensor .* must be bound to a tensor, got null/,
  );
});

test('an unrounded run needs a graph and an engine', async () => {
  await expect(runInF32(none, engine, {})).rejects.toThrow('graph must be a Graph, got undefined');
  await expect(runInF32(example().g.finalize(), none, {})).rejects.toThrow('engine must be an engine');
});

test('a run without inputs, or without an engine, rejects and names the argument', async () => {
  await expect(example().g.run(engine, none)).rejects.toThrow('inputs must be an object, got undefined');
  const { g, x } = example();
  await expect(g.run(none, { [x.id]: Tensor.zeros([2]) })).rejects.toThrow('engine must be an engine');
});

test('a tensor of another engine is refused on the host', async () => {
  const { g, x } = example();
  const elsewhere = { dtype: 'f32', shape: [2], strides: [1] } as unknown as Tensor;
  await expect(g.run(engine, { [x.id]: elsewhere })).rejects.toThrow('must be a Tensor on this host');
});

test('shapes that do not fit are found when the graph is compiled, naming the operation', () => {
  const g = new Graph();
  const [a, b] = [g.tensor({ dtype: 'f32', shape: [2, 3] }), g.tensor({ dtype: 'f32', shape: [2, 3] })];
  g.op('MatMul', { inputs: [a, b], outputs: [g.tensor({ dtype: 'f32' })] });
  expect(() => g.finalize()).not.toThrow();
  expect(() => g.compile(engine)).toThrow(/^operation MatMul 0 of tensors 0, 1: /);
});
