import { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import * as ops from './index.ts';

const {
  add,
  attention,
  compile,
  constant,
  evalShape,
  grad,
  matmul,
  multiply,
  reduceSum,
  typeCast,
  valueAndGrad,
} = ops;
type Variable = ops.Variable;

const engine = cpuEngine();
const row = (...values: number[]): Tensor => Tensor.from(values, [1, values.length]);

/** A chain of layers x ← x + tanh(x·w)²·v, and a sum of squares. */
function chain(layers: number, wrap: (fn: () => Variable) => Variable) {
  return (inputs: Readonly<Record<string, Variable>>): Variable => {
    let x = inputs.x;
    for (let n = 0; n < layers; n++) {
      const before = x;
      x = wrap(() => {
        const hidden = ops.tanh(matmul(before, inputs[`w${n}`]));
        return add(before, matmul(multiply(hidden, hidden), inputs[`v${n}`]));
      });
    }
    return reduceSum(multiply(x, x), { axes: [0, 1] });
  };
}

test('recomputation takes less memory, and the gradients are the same', async () => {
  const values = (rows: number, columns: number): Tensor =>
    Tensor.from(
      Array.from({ length: rows * columns }, (_, n) => Math.sin(n * n + columns) / 8),
      [rows, columns],
    );
  const layers = Array.from({ length: 8 }, (_, n) => n);
  const weights = layers.flatMap(n => [[`w${n}`, values(8, 64)] as const, [`v${n}`, values(64, 8)] as const]);
  const tensors: Record<string, Tensor> = { x: values(16, 8), ...Object.fromEntries(weights) };
  const specs = Object.fromEntries(Object.entries(tensors).map(([name, { shape }]) => [name, shape]));
  const kept = compile(engine, grad(chain(8, fn => fn())), specs);
  const again = compile(engine, grad(chain(8, ops.recompute)), specs);
  expect(again.workspaceBytes).toBeLessThan((2 / 3) * kept.workspaceBytes);
  const [expected, given] = [await kept(tensors), await again(tensors)];
  for (const name of Object.keys(tensors))
    expect(given[name].toFloat32()).toEqual(expected[name].toFloat32());
  kept.release();
  again.release();
  expect(() => ops.recompute(() => constant(1))).toThrow('can only be called in a traced function');
});

test('a value with its gradients, in one graph', async () => {
  const loss = ({ x, w }: { readonly x: Variable; readonly w: Variable }) => {
    const y = matmul(x, w);
    return reduceSum(multiply(y, y), { axes: [0, 1] });
  };
  const f = compile(engine, valueAndGrad(loss, ['w']), { x: [1, 2], w: [2, 1] });
  const inputs = { x: row(1, 2), w: Tensor.from([3, 4], [2, 1]) };
  const { value, gradients } = await f(inputs);
  expect(value.toFloat32()[0]).toBe(121);
  expect([...gradients.w.toFloat32()]).toEqual([22, 44]);
  const all = compile(engine, grad(loss), { x: [1, 2], w: [2, 1] });
  expect([...(await all(inputs)).x.toFloat32()]).toEqual([66, 88]);
  for (const compiled of [f, all]) compiled.release();
});

test('attention keeps what its backward pass needs: both are one call', async () => {
  const shape = [1, 2, 5, 4];
  const loss = ({ q, k, v }: { readonly q: Variable; readonly k: Variable; readonly v: Variable }) => {
    const o = attention(q, k, v, { causal: true });
    return reduceSum(multiply(o, o), { axes: [0, 1, 2, 3] });
  };
  const specs = { q: shape, k: shape, v: shape };
  const f = compile(engine, valueAndGrad(loss), specs);
  const kinds = f.graph.nodes.map(({ kind }) => kind).filter(kind => kind.startsWith('Sdpa'));
  expect(kinds).toEqual(['Sdpa', 'SdpaBackward']);
  const values = Tensor.from(
    Array.from({ length: 40 }, (_, n) => Math.sin(n * n)),
    shape,
  );
  const at = async (v: Tensor): Promise<number> =>
    (await f({ q: values, k: values, v })).value.toFloat64()[0];
  const moved = (by: number): Tensor =>
    Tensor.from(
      values.toFloat64().map((x, n) => (n === 7 ? x + by : x)),
      shape,
    );
  const slope = ((await at(moved(1e-2))) - (await at(moved(-1e-2)))) / 2e-2;
  expect((await f({ q: values, k: values, v: values })).gradients.v.toFloat32()[7]).toBeCloseTo(slope, 3);
  f.release();
  const forward = compile(engine, ({ q, k, v }) => attention(q, k, v), specs);
  expect(forward.graph.outputs).toHaveLength(1);
  forward.release();
});

/** Attention of q on itself, as operations. */
function written(q: Variable): Variable {
  const scores = multiply(matmul(q, q, { transposeB: true }), 0.5);
  const [row, column] = [-2, -1].map(axis => ops.genIndex(scores, { axis }));
  const visible = ops.select(ops.greaterEqual(row, column), scores, Number.NEGATIVE_INFINITY);
  return matmul(ops.softmax(visible, { axis: -1 }), q);
}

test.each([
  ['stored', (fn: () => Variable) => fn()],
  ['recomputed', ops.recompute],
])(
  'attention that is written as operations runs as one call each way if its results are %s',
  async (_, wrap) => {
    const shape = [1, 2, 5, 4];
    const loss = (attend: (q: Variable) => Variable) => (inputs: { readonly q: Variable }) => {
      const o = wrap(() => ops.exp(attend(inputs.q)));
      return reduceSum(multiply(o, o), { axes: [0, 1, 2, 3] });
    };
    const [own, one] = [written, (q: Variable) => attention(q, q, q, { causal: true })].map(attend =>
      compile(engine, grad(loss(attend)), { q: shape }),
    );
    const kinds = own.graph.partitions().map(({ kind }) => kind);
    expect(kinds.filter(kind => kind.startsWith('sdpa'))).toContain('sdpa-training');
    expect(kinds).toContain('sdpa-backward');
    // Nothing of the size of the scores is left between operations.
    expect(own.graph.partitions().flatMap(({ outputs }) => outputs.map(t => t.shape?.at(-1)))).not.toContain(
      5,
    );
    const q = Tensor.from(
      Array.from({ length: 40 }, (_, n) => Math.sin(n * n)),
      shape,
    );
    const expected = (await one({ q })).q.toFloat64();
    for (const [n, x] of (await own({ q })).q.toFloat64().entries()) expect(x).toBeCloseTo(expected[n], 4);
    for (const each of [own, one]) each.release();
  },
);

test('recomputed attention is computed once more, for its output and its backward pass', () => {
  const loss = ({ q, w }: { readonly q: Variable; readonly w: Variable }) => {
    const y = ops.recompute(() => matmul(attention(q, q, q), w));
    return reduceSum(multiply(y, y), { axes: [0, 1, 2, 3] });
  };
  const f = compile(engine, grad(loss), { q: [1, 2, 5, 4], w: [4, 3] });
  const kinds = f.graph.nodes.map(({ kind }) => kind).filter(kind => kind.startsWith('Sdpa'));
  expect(kinds).toEqual(['Sdpa', 'Sdpa', 'SdpaBackward']);
  f.release();
});

test('attention in 16 bits has gradients, and that of an f32 tensor before a cast is not rounded', async () => {
  const shape = [1, 2, 5, 4];
  const loss = ({ q, k }: { readonly q: Variable; readonly k: Variable }) => {
    const [half, keys] = [typeCast(multiply(q, 3), { dtype: 'f16' }), k];
    return reduceSum(typeCast(attention(half, keys, keys), { dtype: 'f32' }), { axes: [0, 1, 2, 3] });
  };
  const specs = { q: shape, k: { shape, dtype: 'f16' } } as const;
  const f = compile(engine, valueAndGrad(loss), specs);
  const values = (step: number): Tensor =>
    Tensor.from(
      Array.from({ length: 40 }, (_, n) => Math.sin(n * step)),
      shape,
    );
  const given = { q: values(0.7), k: values(1.9).cast('f16') };
  const { q, k } = (await f(given)).gradients;
  expect([q.dtype, k.dtype]).toEqual(['f32', 'f16']);
  // The gradient of q · 3 is computed from 16 bits, but not rounded to them.
  expect([...q.toFloat32()]).not.toEqual([...q.cast('f16').toFloat32()]);
  const exact = compile(
    engine,
    valueAndGrad(({ q, k }) => reduceSum(attention(multiply(q, 3), k, k), { axes: [0, 1, 2, 3] })),
    { q: shape, k: shape },
  );
  const expected = (await exact({ q: given.q, k: given.k.cast('f32') })).gradients;
  for (const [n, x] of q.toFloat32().entries()) expect(x).toBeCloseTo(expected.q.toFloat32()[n], 2);
  for (const [n, x] of k.toFloat32().entries()) expect(x).toBeCloseTo(expected.k.toFloat32()[n], 2);
  for (const each of [f, exact]) each.release();
});

test('a gradient of a gradient, where the operations of the gradient have one', async () => {
  const cube = ({ a }: { a: Variable }) => reduceSum(multiply(multiply(a, a), a), { axes: [0, 1] });
  const second = compile(
    engine,
    grad(({ a }: { a: Variable }) => reduceSum(grad(cube)({ a }).a, { axes: [0, 1] })),
    { a: [1, 2] },
  );
  expect([...(await second({ a: row(3, -2) })).a.toFloat64()]).toEqual([18, -12]);
  const bend = ({ a }: { a: Variable }) => reduceSum(ops.tanh(a), { axes: [0, 1] });
  expect(() =>
    evalShape(
      grad(({ a }: { a: Variable }) => reduceSum(grad(bend)({ a }).a, { axes: [0, 1] })),
      { a: [1, 2] },
    ),
  ).toThrow(/TanhBackward \d+ has no gradient$/);
});

test('the gradient of an argument with respect to itself is 1', async () => {
  const one = compile(
    engine,
    grad(({ a }: { a: Variable }) => a),
    { a: [] },
  );
  expect([...(await one({ a: 3 })).a.toFloat64()]).toEqual([1]);
});
