import { describe, expect, test } from 'vitest';
import { GraphBuilder } from '../../../testing/attention/attention-graph.ts';
import { expectSame, kernelsOf } from '../../../testing/compare/expect-same.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';

/** The sizes are equal on purpose, so that they do not distinguish the operands. */
const [B, H, S] = [1, 2, 4];
const matrices = [B, H, S, S];
const rows = { axes: [-1], keep_dims: true };

type T = LogicalTensor;

/** The forward pass of attention, with the changes of a case. */
interface Forward {
  readonly q?: readonly number[];
  readonly k?: readonly number[];
  readonly v?: readonly number[];
  readonly scores?: (g: GraphBuilder, s: T) => T;
  readonly softmax?: (g: GraphBuilder, s: T) => T;
  readonly probabilities?: (g: GraphBuilder, p: T) => T;
  /** Replaces v. */
  readonly values?: (g: GraphBuilder, s: T, stats: T) => T;
  readonly transpose_a?: boolean;
}

function forward({ q, k, v, scores, softmax, probabilities, values, transpose_a = false }: Forward) {
  return (g: GraphBuilder): void => {
    const product = g.op('MatMul', [g.input(q ?? matrices), g.input(k ?? matrices)], { transpose_b: true });
    const s = scores?.(g, product) ?? product;
    const [p, stats] = softmax ? [softmax(g, s), s] : g.softmax(s);
    g.op('MatMul', [probabilities?.(g, p) ?? p, values?.(g, s, stats) ?? g.input(v ?? matrices)], {
      transpose_a,
    });
  };
}

/** The backward pass of attention, with the changes of a case. */
interface Backward {
  readonly heads?: number;
  readonly stats?: readonly number[] | ((g: GraphBuilder, s: T) => T);
  /** The axis of SoftMaxBackward; without one, the gradient of softmax is by rowsum(O∘dO). */
  readonly axis?: number;
  readonly o?: readonly number[];
  /** The factors of the summed product, from o and dO. */
  readonly factors?: (g: GraphBuilder, o: T, dO: T) => T[];
  readonly sum?: { readonly axes: number[]; readonly keep_dims: boolean };
  readonly v?: (g: GraphBuilder, s: T) => T;
  /** The operation that is applied to P and dP. */
  readonly dropout?: (g: GraphBuilder, x: T, pass: 'forward' | 'backward') => T;
  readonly scaled?: (g: GraphBuilder, dS: T) => T;
  readonly dq?: Readonly<Record<string, boolean>>;
  readonly dk?: Readonly<Record<string, boolean>>;
}

function backward({ heads = H, axis, dropout = (_, x) => x, ...parts }: Backward) {
  return (g: GraphBuilder): void => {
    const input = () => g.input([B, heads, S, S]);
    const [q, k, dO] = [input(), input(), input()];
    const s = g.op('MatMul', [q, k], { transpose_b: true });
    const { stats = [B, heads, S, 1], v = input } = parts;
    const p = g.op('Exp', [
      g.op('Subtract', [s, typeof stats === 'function' ? stats(g, s) : g.input(stats)]),
    ]);
    g.op('MatMul', [dropout(g, p, 'forward'), dO], { transpose_a: true });
    const dP = dropout(g, g.op('MatMul', [dO, v(g, s)], { transpose_b: true }), 'backward');
    let dS: T;
    if (axis === undefined) {
      const o = g.input(parts.o ?? [B, heads, S, S]);
      const product = g.op('Multiply', parts.factors?.(g, o, dO) ?? [o, dO]);
      const delta = g.op('ReduceSum', [product], parts.sum ?? rows);
      dS = g.op('Multiply', [p, g.op('Subtract', [dP, delta])]);
    } else dS = g.op('SoftMaxBackward', [dP, p], { axis });
    dS = parts.scaled?.(g, dS) ?? dS;
    g.op('MatMul', [dS, k], parts.dq ?? {});
    g.op('MatMul', [dS, q], parts.dk ?? { transpose_a: true });
  };
}

const seed = (g: GraphBuilder, n = 7n): T[] => [g.scalar(n, 'i64'), g.scalar(2n, 'i64')];
/** Dropout as RNG and two products, with given shapes of the random numbers and the scale. */
const dropped =
  (shape: readonly number[], scale: readonly number[] = []) =>
  (g: GraphBuilder, x: T): T => {
    const keep = g.op('RNG', [g.input(shape), ...seed(g)], { p: 0.5 });
    return g.op('Multiply', [g.op('Multiply', [x, keep]), g.input(scale)]);
  };
/** Dropout with one scale tensor for both passes. */
const droppedBoth = (shape: readonly number[], scale: readonly number[] = []): Backward['dropout'] => {
  const scales = new Map<GraphBuilder, T>();
  return (g, x) => {
    const by = scales.get(g) ?? g.input(scale);
    scales.set(g, by);
    const keep = g.op('RNG', [g.input(shape), ...seed(g)], { p: 0.5 });
    return g.op('Multiply', [g.op('Multiply', [x, keep]), by]);
  };
};
/** True where the index along one axis of a tensor is at least the index along another axis. */
const whereIndex =
  (of: readonly number[], a: number, b: number) =>
  (g: GraphBuilder, s: T): T => {
    const x = g.input(of);
    const index = (axis: number) => g.op('GenIndex', [x], { axis }, 'i32');
    const visible = g.op('GreaterEqual', [index(a), index(b)], {}, 'bool');
    return g.op('Select', [visible, s, g.scalar(-Infinity)]);
  };
const writtenOut =
  (max: object, sum: object) =>
  (g: GraphBuilder, s: T): T => {
    const e = g.op('Exp', [g.op('Subtract', [s, g.op('ReduceMax', [s], { ...rows, ...max })])]);
    return g.op('Divide', [e, g.op('ReduceSum', [e], { ...rows, ...sum })]);
  };
const along = (axis: number) => (g: GraphBuilder, s: T) => g.op('SoftMax', [s], { axis });
const transpose = (order: readonly number[]) => (g: GraphBuilder, t: T) =>
  g.op('StaticTranspose', [t], { order });

const alike: Readonly<Record<string, (g: GraphBuilder) => void>> = {
  'values of more heads than the scores': forward({ q: [1, 1, S, S], k: [1, 1, S, S], v: [1, 2, S, S] }),
  'values of more batch entries than the scores': forward({ v: [3, H, S, S] }),
  'values of more dimensions than the scores': forward({ q: [2, S, S], k: [2, S, S], v: [3, 2, S, S] }),
  'values that are a vector': forward({ v: [S] }),
  'values that are the scores': forward({ values: (_, s) => s }),
  'values that are the scores, transposed': forward({ values: (g, s) => transpose([0, 1, 3, 2])(g, s) }),
  'values that are the stats': forward({ values: (_, __, stats) => stats }),
  'probabilities that are transposed by an attribute': forward({ transpose_a: true }),
  'probabilities whose heads and queries are swapped': forward({
    q: [1, S, S, S],
    k: [1, S, S, S],
    v: [1, S, S, S],
    probabilities: transpose([0, 2, 1, 3]),
  }),
  'scores that are transposed': forward({ scores: transpose([0, 1, 3, 2]) }),
  'a number that is divided by the scores': forward({ scores: (g, s) => g.op('Divide', [g.scalar(2), s]) }),
  'a scale per query': forward({ scores: (g, s) => g.op('Multiply', [s, g.input([B, H, S, 1])]) }),
  'a cap per head': forward({
    scores: (g, s) => g.op('Multiply', [g.op('Tanh', [s]), g.input([H, 1, 1])]),
  }),
  'a fill per key': forward({
    scores: (g, s) =>
      g.op('Select', [
        g.input([S, S], { dtype: 'bool', values: [...Array(S * S).keys()].map(n => n % 2) }),
        s,
        g.input([S]),
      ]),
  }),
  'a bias that makes the scores more': forward({
    q: [1, 1, S, S],
    k: [1, 1, S, S],
    scores: (g, s) => g.op('Add', [s, g.input(matrices)]),
  }),
  'indices along the first axes of a matrix': forward({ scores: whereIndex([S, S], 0, 1) }),
  'indices of three dimensions': forward({ scores: whereIndex([H, S, S], 1, 0) }),
  'indices along an axis of one': forward({ scores: whereIndex([1, H, 1, S], 2, 3) }),
  'indices along another axis of one': forward({ scores: whereIndex([1, 1, S, S], 1, 3) }),
  'a softmax along the queries': forward({ softmax: along(-2) }),
  'a softmax along the heads': forward({ softmax: along(1) }),
  'a softmax less the maximum of columns': forward({ softmax: writtenOut({ axes: [2] }, {}) }),
  'a softmax by the sum of columns': forward({ softmax: writtenOut({}, { axes: [2] }) }),
  'a softmax of columns': forward({ softmax: writtenOut({ axes: [2] }, { axes: [2] }) }),
  'a softmax by the sum of matrices': forward({ softmax: writtenOut({}, { axes: [2, 3] }) }),
  'dropout that is the same in all heads': forward({ probabilities: dropped([1, 1, S, S]) }),
  'dropout of whole rows': forward({ probabilities: dropped([B, H, S, 1]) }),
  'dropout of fewer dimensions': forward({ probabilities: dropped([S, S]) }),
  'dropout by a scale per head': forward({ probabilities: dropped(matrices, [1, H, 1, 1]) }),
  'dropout by a scale per key': forward({ probabilities: dropped(matrices, [S]) }),
  'dropout by a scale that makes the probabilities more': forward({
    probabilities: dropped(matrices, [2, 1, 1, 1]),
  }),
  'dropout by random numbers twice': forward({
    probabilities: (g, p) => {
      const [a, b] = [7n, 8n].map(n => g.op('RNG', [p, ...seed(g, n)], { p: 0.5 }));
      return g.op('Multiply', [g.op('Multiply', [p, a]), b]);
    },
  }),

  'the sum of O∘X': backward({ factors: (g, o) => [o, g.input(matrices)] }),
  'the sum of X∘O': backward({ factors: (g, o) => [g.input(matrices), o] }),
  'the sum of columns': backward({ sum: { axes: [-2], keep_dims: true } }),
  'the sum along an axis from the start': backward({ sum: { axes: [2], keep_dims: true } }),
  'the sum of matrices': backward({ sum: { axes: [2, 3], keep_dims: true } }),
  'a result of one column': backward({ o: [B, H, S, 1] }),
  'a result of one row': backward({ o: [1, S] }),
  'a result of more heads': backward({ heads: 1, o: [B, H, S, S] }),
  'the gradient of a softmax along the queries': backward({ axis: -2 }),
  'the gradient of a softmax along the heads': backward({ axis: 1 }),
  'stats per score': backward({ stats: matrices }),
  'stats per score, from the probabilities': backward({ stats: matrices, axis: -1 }),
  'stats of 16 bits': backward({ stats: g => g.input([B, H, S, 1], { dtype: 'bf16' }) }),
  'stats per key': backward({ stats: [S], axis: -1 }),
  'stats per head': backward({ stats: [B, H, 1, 1] }),
  'stats of more heads than the scores': backward({ heads: 1, stats: [B, H, S, 1] }),
  'stats of more dimensions than the scores': backward({ stats: [2, B, H, S, 1] }),
  'values that are the scores, in both passes': backward({ v: (_, s) => s }),
  'values of more heads than the scores, backward': backward({ heads: 1, v: g => g.input([B, H, S, S]) }),
  'values of one head': backward({ v: g => g.input([1, 1, S, S]) }),
  'a gradient scaled as the scores are not': backward({
    scaled: (g, dS) => g.op('Multiply', [dS, g.scalar(2)]),
  }),
  'dq by transposed keys': backward({ dq: { transpose_b: true } }),
  'dk by other rows': backward({ dk: {} }),
  'the same dropout in all heads, backward': backward({ dropout: droppedBoth([1, 1, S, S]) }),
  'dropout by a scale per head, backward': backward({ dropout: droppedBoth(matrices, [1, H, 1, 1]) }),
  'two dropouts by other masks': backward({
    dropout: (g, x, pass) => droppedBoth(pass === 'forward' ? matrices : [1, 1, S, S])?.(g, x, pass) ?? x,
  }),
};

describe('operations that look like attention have the results of the single operations', () => {
  for (const says of ['known', 'rankless'] as const) {
    test.each(Object.entries(alike))(`%s; shapes ${says}`, async (_, write) => {
      const g = new GraphBuilder(says);
      write(g);
      await expectSame(g.graph, g.bindings, 4e-6);
    });
  }
});

describe('chains of operations that read the previous result twice', () => {
  // A smaller number would not show a difference, and a larger one would not fit in an i32.
  const LENGTH = 28;
  const doubled = (g: GraphBuilder, t: T, kind = 'Add', dtype: 'f32' | 'i32' = 'f32'): T => {
    let last = t;
    for (let n = 0; n < LENGTH; n++) last = g.op(kind, [last, last], {}, dtype);
    return last;
  };
  test.each<[string, (g: GraphBuilder) => void]>([
    ['of scores', forward({ scores: (g, s) => doubled(g, s, 'Maximum') })],
    ['that no product is before', g => g.softmax(doubled(g, g.input(matrices)))],
    [
      'of indices',
      forward({
        scores: (g, s) => {
          const [row, column] = [2, 3].map(axis => g.op('GenIndex', [s], { axis }, 'i32'));
          const visible = g.op('GreaterEqual', [doubled(g, row, 'Add', 'i32'), column], {}, 'bool');
          return g.op('Select', [visible, s, g.scalar(-Infinity)]);
        },
      }),
    ],
  ])('%s', async (_, write) => {
    const g = new GraphBuilder();
    write(g);
    await expectSame(g.graph, g.bindings, 4e-6);
  });
});

describe('the graphs without the difference are attention', () => {
  test.each([
    ['forward', 'sdpa-training', forward({})],
    ['forward with dropout', 'sdpa-training', forward({ probabilities: dropped(matrices) })],
    ['forward with a mask of indices', 'sdpa-training', forward({ scores: whereIndex(matrices, 2, 3) })],
    ['forward with a softmax that is written out', 'sdpa', forward({ softmax: writtenOut({}, {}) })],
    ['backward', 'sdpa-backward', backward({})],
    ['backward from the probabilities', 'sdpa-backward', backward({ axis: 3 })],
    [
      'backward with stats of 16 bits',
      'sdpa-backward',
      backward({ stats: g => g.input([B, H, S, 1], { dtype: 'bf16' }) }),
    ],
    ['backward with dropout', 'sdpa-backward', backward({ dropout: droppedBoth(matrices) })],
  ])('%s', (_, kind, write) => {
    const g = new GraphBuilder();
    write(g);
    g.graph.finalize();
    expect(kernelsOf(g.graph, g.bindings)).toEqual([`${kind} attention`]);
  });
});
