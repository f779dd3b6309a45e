import { TilewiseError } from '@tilewise/core';
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
    'causal must be one of false, true, bottom-right',
  ],
  ['no options', () => attending(null), 'options must be an object, got null'],
  ['a probability', () => attending({ dropout: 0.1 }), 'options.dropout must be an object, got 0.1'],
  [
    'no operands',
    () => shapeOf(() => ops.attention(any(undefined), any(undefined), any(undefined))),
    'takes var',
  ],
  [
    'one tensor',
    () => shapeOf(({ a }) => ops.concat(any(a), { axis: 0 })),
    'inputs must be an array of tensors, got',
  ],
  [
    'an operand after a missing one',
    () => shapeOf(({ a }) => ops.layerNorm(a, any(undefined), a)),
    'LayerNorm takes variables, tensors and numbers, got undefined',
  ],
  ['a count of parts', () => shapeOf(({ a }) => ops.split(a, any(2))), "needs the attribute 'axis'"],
  [
    'no constant',
    () => shapeOf(() => ops.constant(any(undefined))),
    'value must be a number or a Tensor, got undef',
  ],
  ['no loss', () => ops.grad(any(undefined)), 'fn must be a function, got undefined'],
  ['an unknown argument', () => shapeOf(i => ops.grad(any(sum), any(['b']))(i)), 'names among a, q, got [b]'],
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
