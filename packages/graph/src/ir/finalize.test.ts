import { expect, test } from 'vitest';
import { Graph } from '../graph.ts';

function graph() {
  const g = new Graph();
  const tensor = (id: number, shape: readonly number[] = [2, 2], dtype: 'f32' | 'bf16' = 'f32') =>
    g.tensor({ id, dtype, shape });
  return { g, tensor };
}

test('two producers of a tensor are named', () => {
  const { g, tensor } = graph();
  g.op('Exp', { inputs: [tensor(0)], outputs: [tensor(1)], id: 4, name: 'first' });
  g.op('Log', { inputs: [tensor(0)], outputs: [tensor(1)], id: 5 });
  expect(() => g.finalize()).toThrow("tensor 1 is produced twice: by Exp 4 'first' and by Log 5");
  expect(() => g.finalize()).toThrow(expect.objectContaining({ code: 'INVALID_GRAPH' }));
});

test('a cycle is named in its order', () => {
  const { g, tensor } = graph();
  g.op('Add', { inputs: [tensor(0), tensor(3)], outputs: [tensor(1)] });
  g.op('Exp', { inputs: [tensor(1)], outputs: [tensor(2)] });
  g.op('Log', { inputs: [tensor(2)], outputs: [tensor(3)] });
  expect(() => g.finalize()).toThrow(/cycle through tensor \d: /);
});

test('an operation that reads what it writes is a cycle', () => {
  const { g, tensor } = graph();
  g.op('Exp', { inputs: [tensor(0)], outputs: [tensor(0)] });
  expect(() => g.finalize()).toThrow(/cycle through tensor 0: Exp 0/);
});

test('conflicting descriptions of a tensor are both named', () => {
  const { g, tensor } = graph();
  g.op('Exp', { inputs: [tensor(0)], outputs: [tensor(1)] });
  g.op('Exp', { inputs: [tensor(1, [2, 3])], outputs: [tensor(2)] });
  expect(() => g.finalize()).toThrow(
    'tensor 1 is 1 (f32 [2, 2]) for Exp 0 but 1 (f32 [2, 3]) for Exp 1: shape [2,2] and [2,3]',
  );
});

test('long chains do not overflow the stack', () => {
  const { g, tensor } = graph();
  for (let n = 20_000; n > 0; n--) g.op('Exp', { inputs: [tensor(n)], outputs: [tensor(n + 1)] });
  expect(g.finalize().topology.order.length).toBe(20_000);
  expect(g.outputs.map(t => t.id)).toEqual([20_001]);
});

test('a finalized graph refuses operations, and one that is not finalized refuses queries', () => {
  const { g, tensor } = graph();
  expect(() => g.partitions()).toThrow(/must be finalized first/);
  g.op('Exp', { inputs: [tensor(0)], outputs: [tensor(1)] });
  g.finalize();
  expect(() => g.op('Exp', { inputs: [tensor(0)], outputs: [tensor(2)] })).toThrow(/Exp 1 cannot be added/);
});

test('a graph that could not be finalized can be corrected', () => {
  const { g, tensor } = graph();
  g.op('Exp', { inputs: [tensor(0)], outputs: [tensor(1)] });
  expect(() => g.op('Exp', { inputs: [tensor(0)], outputs: [tensor(2)], id: 0 })).toThrow(
    /already has an operation 0/,
  );
  g.op('Log', { inputs: [tensor(1)], outputs: [tensor(2)] });
  expect(g.finalize().inputs.map(t => t.id)).toEqual([0]);
});

test('operations that break their schema are refused, naming what is wrong', () => {
  const { g, tensor } = graph();
  const f = tensor(0);
  const b = tensor(9, [2, 2], 'bf16');
  const refused = (
    kind: string,
    inputs: readonly ReturnType<typeof tensor>[],
    attrs: Record<string, number | string | boolean> = {},
    outputs = [tensor(1)],
  ) => expect(() => g.add({ kind, inputs, outputs, attrs }));
  refused('Expp', [f]).toThrow("operation Expp 0: there is no operation of this kind; did you mean 'Exp'?");
  refused('Exp', [f, f]).toThrow('operation Exp 0: takes 1 input (src), got 2');
  refused('Maximum', [f, b]).toThrow(
    "input 'src_1' (tensor 9) must be f32, the dtype of an earlier tensor, got bf16",
  );
  refused('Exp', [f], {}, [g.tensor({ id: 2, dtype: 'i8' })]).toThrow(
    "output 'dst' (tensor 2) must be f32, bf16, f16, got i8",
  );
  refused('GenIndex', [f], {}, [g.tensor({ id: 3, dtype: 'i32' })]).toThrow("needs the attribute 'axis'");
  refused('SoftMax', [f], { axis: 0.5 }).toThrow("attribute 'axis' must be integer, got 0.5");
  refused('SoftMax', [f], { mode: 'zero' }).toThrow(
    'attribute \'mode\' must be one of none, inf_as_zero, got "zero"',
  );
  refused('Exp', [f], { axis: 1 }).toThrow("has no attribute 'axis'");
  refused('MatMul', [f, f], { transposeB: true }).toThrow(
    "no attribute 'transposeB'; did you mean 'transpose_b'?",
  );
  refused('TypeCast', [f]).toThrow("must have a different dtype from 'src'");
  refused('MatMul', [b, b], {}, [g.tensor({ id: 4, dtype: 'f16' })]).toThrow(
    "output 'dst' must be bf16 or f32, got f16",
  );
  expect(g.nodes.length).toBe(0);
});

test('shapes that do not fit are errors of compile that name the operation', async () => {
  const { g, tensor } = graph();
  g.op('MatMul', {
    inputs: [tensor(0, [2, 3]), tensor(1, [4, 2])],
    outputs: [g.tensor({ id: 2, dtype: 'f32' })],
  });
  const [partition] = g.finalize().partitions();
  const { referenceEngine } = await import('@tilewise/core/reference');
  expect(() => partition.compile(referenceEngine())).toThrow(
    'MatMul cannot multiply [2,3] by [4,2]: 3 columns, 4 rows',
  );
});
