import { Tensor, TilewiseError } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { toJax } from '../../formats/jax/index.ts';
import { fromOnnx, toOnnx } from '../../formats/onnx/index.ts';
import { toTorch } from '../../formats/torch/index.ts';
import { gradients } from '../../gradients.ts';
import * as ops from './index.ts';

type Arguments = Readonly<Record<'a' | 'q', ops.Variable>>;
const specs = { a: [2, 3], q: [1, 2, 4, 8] };
const shapeOf = (fn: (inputs: Arguments) => unknown) => ops.evalShape(fn as never, specs);
const attending = (options: unknown) => shapeOf(({ q }) => ops.attention(q, q, q, any(options)));
const sum = ({ a }: Arguments): ops.Variable => ops.reduceSum(a, { axes: [0, 1] });
const { graph } = ops.traceGraph(sum as never, specs);
/** A variable of another traced function. */
function foreign(): ops.Variable {
  const variables: ops.Variable[] = [];
  shapeOf(({ a }) => variables.push(ops.exp(a)) && a);
  return variables[0];
}
/** Passes a value that the types forbid, as JavaScript callers can. */
const any = (value: unknown): never => value as never;

test.each<[string, () => unknown, string]>([
  [
    'the name of PyTorch',
    () => attending({ isCausal: true }),
    "options has no 'isCausal'; did you mean 'causal'?",
  ],
  [
    'an alignment',
    () => attending({ causal: 'bottom_right' }),
    'causal must be one of false, true, top-left, bottom-right',
  ],
  ['no options', () => attending(null), 'options must be an object, got null'],
  ['a probability', () => attending({ dropout: 0.1 }), 'options.dropout must be an object, got 0.1'],
  [
    'keys of another width',
    () => shapeOf(({ q }) => ops.attention(q, ops.transpose(q, [0, 1, 3, 2]), q)),
    'k must have the head size of q (8), got 4',
  ],
  [
    'a mask of other keys',
    () => attending({ mask: Tensor.from([1, 0, 1], [3], { dtype: 'bool' }) }),
    'mask must be broadcastable to [1,2,4,4], got shape [3]',
  ],
  [
    'a negative softcap',
    () => attending({ softcap: -1 }),
    'softcap must be a number from 1e-30 to 1e30, got',
  ],
  ['a dropout of all', () => attending({ dropout: { p: 2, seed: 1, offset: 0 } }), 'dropout.p must be'],
  ['a dropout without a seed', () => attending({ dropout: any({ p: 0.1 }) }), 'dropout.seed must be given'],
  [
    'a host tensor as a result',
    () => shapeOf(() => Tensor.zeros([2])),
    'fn must return variables, or arrays and objects of them, got Tensor',
  ],
  [
    'a dropout without p',
    () => attending({ dropout: any({ seed: 1 }) }),
    'dropout.p must be a number in [0, 1), got undefined',
  ],
  [
    'no operands',
    () => shapeOf(() => ops.attention(any(undefined), any(undefined), any(undefined))),
    'an operand of Sdpa must be a variable of',
  ],
  [
    'one tensor',
    () => shapeOf(({ a }) => ops.concat(any(a), { axis: 0 })),
    'inputs must be an array of tensors, got',
  ],
  [
    'an operand after a missing one',
    () => shapeOf(({ a }) => ops.layerNorm(a, any(undefined), a)),
    'an operand of LayerNorm must be a variable of the traced function, a tensor or a number, got undefined',
  ],
  [
    'arguments that are not in one object',
    () => shapeOf(any((x: ops.Variable, w: ops.Variable) => ops.matmul(x, w))),
    'an operand of MatMul must be a variable of the traced function, a tensor or a number, got all arguments: write ({ a, q }) => …',
  ],
  [
    'arguments of attention that are not in one object',
    () => shapeOf(any((x: ops.Variable) => ops.attention(x, x, x))),
    'got all arguments: write ({ a, q }) => …',
  ],
  [
    'a misspelt argument',
    () => shapeOf(({ a, A }: Record<string, ops.Variable>) => ops.matmul(a, A)),
    'an operand of MatMul must be a variable of the traced function, a tensor or a number, got undefined',
  ],
  [
    'a misspelt argument of a reduction',
    () => shapeOf(({ A }: Record<string, ops.Variable>) => ops.reduceSum(A)),
    'an operand of ReduceSum must be a variable',
  ],
  [
    'a misspelt argument of a reshape',
    () => shapeOf(({ A }: Record<string, ops.Variable>) => ops.reshape(A, [6])),
    'must be a variable of the traced function',
  ],
  [
    'an axis that is not in an object',
    () => shapeOf(({ a }) => ops.softmax(a, any(-1))),
    'SoftMax: takes 1 input (src), got 2; give attributes as { axis: … }',
  ],
  [
    'dimensions to swap',
    () => shapeOf(({ a }) => ops.transpose(a, any(0))),
    "attribute 'order' must be integer[], got 0",
  ],
  [
    'a shape that is not known',
    () => ops.evalShape(any(sum), { a: [-1, 3] }),
    'specs.a must have known extents, got [-1,3]',
  ],
  [
    'an operator',
    () => shapeOf(({ a }) => ops.exp(any(Number(a) * 2))),
    'fn must call add(x, y) or greater(x, y) instead of x + y or x > y',
  ],
  [
    'a comparison',
    () => shapeOf(({ a }) => (any(a) > any(0) ? a : a)),
    'or greater(x, y) instead of x + y or x > y',
  ],
  ['a count of parts', () => shapeOf(({ a }) => ops.split(a, any(2))), "needs the attribute 'axis'"],
  [
    'no constant',
    () => shapeOf(() => ops.constant(any(undefined))),
    'value must be a number or a Tensor, got undef',
  ],
  ['no loss', () => ops.grad(any(undefined)), 'fn must be a function, got undefined'],
  [
    'an unknown argument',
    () => shapeOf(i => ops.grad(any(sum), any(['b']))(i)),
    'names among a, q, got ["b"]',
  ],
  [
    'no specification',
    () => ops.evalShape(any(sum), any({ a: null })),
    'specs.a must be or have a shape, got null',
  ],
  [
    'an operand in an array',
    () => shapeOf(({ a }) => ops.add(a, any([1]))),
    'a tensor or a number, got Array',
  ],
  [
    'no axis',
    () => shapeOf(({ a }) => ops.concat([a, a], any(undefined))),
    "Concat: needs the attribute 'axis'",
  ],
  [
    'an attribute of two words with a wrong value',
    () => shapeOf(({ a }) => ops.reduceSum(a, any({ axes: [0], keepDims: 3 }))),
    "attribute 'keepDims' must be bool, got 3",
  ],
  [
    'a misspelt attribute of two words',
    () => shapeOf(({ a }) => ops.reduceSum(a, any({ axes: [0], keepdims: true }))),
    "has no attribute 'keepdims'; did you mean 'keepDims'?",
  ],
  [
    'an option of parts',
    () => shapeOf(({ a }) => ops.split(a, any({ axis: 0, sizes: [2], size: 1 }))),
    "no attribute 'size'",
  ],
  [
    'a function without a loss',
    () => shapeOf(i => ops.grad(any(() => undefined))(i)),
    'loss must be a variable of the traced function, got undefined',
  ],
  [
    'a number as a loss',
    () => shapeOf(() => ops.gradientsOf(any(3), [])),
    'loss must be a variable of the traced function, got 3',
  ],
  [
    'a variable in place of a list',
    () => shapeOf(i => ops.gradientsOf(sum(i), any(i.a))),
    'by must be an array of variables',
  ],
  [
    'an argument of another function',
    () => shapeOf(i => ops.gradientsOf(sum(i), [foreign()])),
    'by must be a variable of the traced function, got one of another',
  ],
  [
    'a result of another function',
    () =>
      ops.traceGraph(
        any(({ a }: Arguments) => [ops.abs(a), foreign()]),
        specs,
      ),
    'a result of fn must be a variable of the traced function, got one of another',
  ],
  [
    'a block without a result',
    () => shapeOf(() => ops.recompute(any(() => undefined))),
    'the result of fn must be a variable',
  ],
  [
    'an argument that the loss does not read',
    () => shapeOf(i => ops.grad(sum)(i)),
    "by must be floats that a result depends on: leave out tensor 1 'q' (f32 [1, 2, 4, 8])",
  ],
  [
    'an argument of integers',
    () => {
      const loss = ({ a, i }: Readonly<Record<'a' | 'i', ops.Variable>>) =>
        ops.reduceSum(ops.gather(a, i), { axes: [0, 1] });
      return ops.evalShape(ops.grad(loss), { a: [2, 3], i: { shape: [2], dtype: 'i32' } });
    },
    "by must be floats that a result depends on: leave out tensor 1 'i' (i32 [2])",
  ],
  ['no graph', () => shapeOf(() => ops.callGraph(any(null), {})), 'graph must be an object, got null'],
  [
    'no inputs of a graph',
    () => shapeOf(() => ops.callGraph(graph, any(null))),
    'inputs must be an object, got null',
  ],
  ['one argument', () => shapeOf(i => ops.grad(any(sum), any('a'))(i)), 'names among a, q, got "a"'],
  ['no block', () => shapeOf(() => ops.recompute(any(undefined))), 'fn must be a function, got undefined'],
  [
    'an async function',
    () => shapeOf(async ({ a }) => a),
    'fn must return variables, or arrays and objects of them',
  ],
  [
    'a name as a shape',
    () => ops.evalShape(any(sum), any({ a: 'f32' })),
    'specs.a must be or have a shape, got "f32"',
  ],
  [
    'a number as a shape',
    () => ops.compile(cpuEngine(), any(sum), any({ a: 3 })),
    'specs.a must be or have a shape',
  ],
  ['a direction', () => gradients(graph, any({ of: [], by: [] })), "options has no 'by'"],
  ['an ONNX file', () => fromOnnx(new Uint8Array(), any({ external: null })), "options has no 'external'"],
  ['an ONNX model', () => toOnnx(graph, any({ opset: 17 })), "options has no 'opset'"],
  ['a PyTorch package', () => toTorch(graph, any({ lr: 1 })), "options has no 'lr'"],
  ['a JAX package', () => toJax(graph, any({ training: {} })), "options has no 'training'"],
])('%s is refused by name', async (_, call, message) => {
  const result = (async () => call())();
  await expect(result).rejects.toBeInstanceOf(TilewiseError);
  await expect(result).rejects.toThrow(message);
});

test('inputs that are not by name are refused with the names', async () => {
  const total = ops.compile(cpuEngine(), sum as never, { a: [2, 3] });
  const a = Tensor.zeros([2, 3]);
  await expect((total as (...inputs: unknown[]) => Promise<unknown>)(a)).rejects.toThrow(
    'inputs must be { a }, got Tensor',
  );
  await expect(total(any([a]))).rejects.toThrow('inputs must be an object, got Array');
  await expect(total({} as never)).rejects.toThrow("inputs lacks 'a'");
  total.release();
});

test('errors about the memory of an argument have the name of the argument', async () => {
  const product = ops.compile(cpuEngine(), ({ w }) => ops.matmul(w, w), { w: [2, 2] });
  const w = Tensor.zeros([2, 2]);
  await expect(product({ w }, [w])).rejects.toThrow(
    /^tensor 1 is an output .* overlap tensor 0 'w' in memory$/,
  );
  product.release();
});

test('outputs that are not a list, or a list of more tensors than results, are refused', async () => {
  const total = ops.compile(cpuEngine(), sum as never, { a: [2, 3] });
  const a = Tensor.zeros([2, 3]);
  for (const outputs of [null, Tensor.zeros([]), {}, [undefined, undefined]])
    await expect(total({ a } as never, any(outputs))).rejects.toThrow(
      'outputs must be an array of up to 1 tensors, got',
    );
  total.release();
});
