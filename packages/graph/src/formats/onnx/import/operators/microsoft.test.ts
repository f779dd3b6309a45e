import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { describe, expect, test } from 'vitest';
import { runOnnx } from '../../../../../testing/compare/onnx-session.ts';
import { fromOnnx } from '../../index.ts';
import { encodeModel, type OnnxAttribute } from '../../model.ts';

/** A com.microsoft node whose inputs are inputs of the model; null stands for an omitted input. */
interface Case {
  readonly op: string;
  readonly inputs: readonly (Tensor | null)[];
  readonly attributes?: Readonly<Record<string, OnnxAttribute>>;
  readonly outputs?: number;
}

const int = (value: number): OnnxAttribute => ({ int: value });

function draw(...shape: readonly number[]): Tensor {
  const count = shape.reduce((n, extent) => n * extent, 1);
  const values = Float32Array.from({ length: count }, (_, n) => 1.5 * Math.sin(1.3 * n * n + shape.length));
  return Tensor.from(values, shape);
}

const integers = (...list: readonly number[]): Tensor => Tensor.from(list, [list.length], { dtype: 'i32' });

function modelOf({ op, inputs, attributes = {}, outputs = 1 }: Case): Uint8Array {
  const names = inputs.map((tensor, n) => (tensor ? `x${n}` : ''));
  const results = Array.from({ length: outputs }, (_, n) => `y${n}`);
  return encodeModel({
    ...{ name: op, opset: 17, initializers: [] },
    nodes: [{ op, domain: 'com.microsoft', name: op, inputs: names, outputs: results, attributes }],
    inputs: inputs.flatMap((tensor, n) =>
      tensor ? [{ name: `x${n}`, type: tensor.dtype === 'i32' ? 6 : 1, shape: tensor.shape }] : [],
    ),
    outputs: results.map(name => ({ name, type: 1, shape: null })),
  });
}

const feedsOf = ({ inputs }: Case): Record<string, Tensor> =>
  Object.fromEntries(inputs.flatMap((tensor, n) => (tensor ? [[`x${n}`, tensor] as const] : [])));

const [B, H, D] = [2, 2, 4];
const cache = draw(B, H, 4, D);
/** Queries, keys and values of `tokens` tokens. */
const tokens = (Sq: number, Skv = Sq): Tensor[] => [Sq, Skv, Skv].map(S => draw(B, S, H * D));
const causal = { num_heads: int(H), unidirectional: int(1) };

describe('is as in onnxruntime:', () => {
  const cases: Readonly<Record<string, Case>> = {
    'causal attention with a cache and lengths of the keys': {
      ...{ op: 'MultiHeadAttention', attributes: causal, outputs: 3 },
      inputs: [...tokens(3), null, integers(7, 5), null, cache, cache],
    },
    'causal attention of one query that is given all keys': {
      ...{ op: 'MultiHeadAttention', attributes: causal },
      inputs: tokens(1, 5),
    },
    'a row that a product would turn, were it a matrix': {
      ...{ op: 'FusedMatMul', attributes: { transA: int(1), transB: int(1) } },
      inputs: [draw(4), draw(3, 4)],
    },
  };
  test.each(Object.entries(cases))('%s', async (_, one) => {
    const [bytes, feeds] = [modelOf(one), feedsOf(one)];
    const expected = await runOnnx(bytes, feeds);
    const model = await fromOnnx(bytes);
    const results = await model.run(cpuEngine(), feeds);
    for (const [name, wanted] of Object.entries(expected)) {
      const got = results[name] as Tensor;
      expect(got.shape).toEqual([...wanted.shape]);
      const values = got.toFloat64();
      wanted.toFloat64().forEach((x, n) => {
        expect(values[n], `${name}[${n}]`).toBeCloseTo(x, 4);
      });
    }
    model.release();
  });
});

describe('is refused:', () => {
  const cases: Readonly<Record<string, Case>> = {
    'which keys several causal queries see of another number of keys': {
      ...{ op: 'MultiHeadAttention', attributes: causal },
      inputs: tokens(3, 5),
    },
    'the scores of attention as an output': {
      ...{ op: 'MultiHeadAttention', attributes: { num_heads: int(H) }, outputs: 4 },
      inputs: tokens(3),
    },
  };
  test.each(Object.entries(cases))('%s', async (_, one) => {
    const model = await fromOnnx(modelOf(one));
    const shapes = Object.fromEntries(
      Object.entries(feedsOf(one)).map(([name, { shape }]) => [name, [...shape]]),
    );
    expect(() => model.graph({ shapes })).toThrow(
      expect.objectContaining({ code: 'UNSUPPORTED', message: expect.stringContaining(one.op) }),
    );
  });
});
