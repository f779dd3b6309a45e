import type { LogicalTensor } from '../../src/ir/tensor/logical-tensor.ts';
import type { GraphBuilder } from './attention-graph.ts';
import type { Step } from './score-steps.ts';

/** The numbers of batch entries, heads, queries, keys and channels in the patterns. */
export const [B, H, Sq, Skv, D, Dv] = [2, 2, 4, 5, 3, 2];
const GROUP = 3;

/** Attention written in some way: its result, and the inputs that have gradients. */
export interface Written {
  readonly o: LogicalTensor;
  readonly inputs: readonly LogicalTensor[];
}

const multiplied: Step = (g, s) => g.op('Multiply', [s, g.scalar(0.6)]);
const divided: Step = (g, s) => g.op('Divide', [s, g.scalar(2)]);
const added =
  (...shape: readonly number[]): Step =>
  (g, s) =>
    g.op('Add', [s, g.input(shape)]);
const bits = (g: GraphBuilder, shape: readonly number[], hidden: number): LogicalTensor =>
  g.input(shape, {
    dtype: 'bool',
    values: Array.from({ length: shape.reduce((n, x) => n * x, 1) }, (_, n) =>
      n % 3 === 1 ? hidden : 1 - hidden,
    ),
  });
const selected =
  (...shape: readonly number[]): Step =>
  (g, s) =>
    g.op('Select', [bits(g, shape, 0), s, g.scalar(-Infinity)]);
const filled =
  (...shape: readonly number[]): Step =>
  (g, s) =>
    g.op('Select', [bits(g, shape, 1), g.scalar(-Infinity), s]);
const index = (g: GraphBuilder, s: LogicalTensor, axis: number): LogicalTensor =>
  g.op('GenIndex', [s], { axis }, 'i32');
const shifted = (g: GraphBuilder, kind: string, rows: LogicalTensor, by: number): LogicalTensor =>
  g.op(kind, [rows, g.scalar(by, 'i32')], {}, 'i32');
const where = (g: GraphBuilder, above: LogicalTensor, below: LogicalTensor, s: LogicalTensor, fill: number) =>
  g.op('Select', [g.op('GreaterEqual', [above, below], {}, 'bool'), s, g.scalar(fill)]);
const causal =
  (fill = -Infinity): Step =>
  (g, s) =>
    where(g, index(g, s, -2), index(g, s, -1), s, fill);
const bottomRight: Step = (g, s) => {
  const rows = shifted(g, 'Subtract', shifted(g, 'Add', index(g, s, -2), Skv), Sq);
  return where(g, rows, index(g, s, -1), s, -Infinity);
};
const window: Step = (g, s) => where(g, shifted(g, 'Add', index(g, s, 3), 1), index(g, s, 2), s, -Infinity);
const softcapped: Step = (g, s) =>
  g.op('Multiply', [g.op('Tanh', [g.op('Divide', [s, g.scalar(2)])]), g.scalar(2)]);

const operands = (g: GraphBuilder): LogicalTensor[] => [
  g.input([B, H, Sq, D]),
  g.input([B, H, Skv, D]),
  g.input([B, H, Skv, Dv]),
];
const scoresOf = (g: GraphBuilder, q: LogicalTensor, k: LogicalTensor): LogicalTensor =>
  g.op('MatMul', [q, k], { transpose_b: true });
const reshape = (g: GraphBuilder, t: LogicalTensor, shape: readonly number[]): LogicalTensor =>
  g.op('StaticReshape', [t], { shape, special_zero: false });

/** q·kᵀ · steps · softmax · v. */
const chain =
  (...steps: readonly Step[]) =>
  (g: GraphBuilder): Written => {
    const [q, k, v] = operands(g);
    let s = scoresOf(g, q, k);
    for (const step of steps) s = step(g, s);
    return { o: g.op('MatMul', [g.softmax(s)[0], v]), inputs: [q, k, v] };
  };

/** Attention without a score chain, whose probabilities go through `step`. */
const probabilities =
  (step: (g: GraphBuilder, p: LogicalTensor) => LogicalTensor) =>
  (g: GraphBuilder): Written => {
    const [q, k, v] = operands(g);
    const p = g.softmax(divided(g, scoresOf(g, q, k)))[0];
    return { o: g.op('MatMul', [step(g, p), v]), inputs: [q, k, v] };
  };
const stream = (g: GraphBuilder): LogicalTensor[] => [g.scalar(123456n, 'i64'), g.scalar(1n, 'i64')];

/**
 * Several query heads per key and value head; k and v have the dimensions `shared` in place of the queries'
 * groups.
 */
const grouped =
  (own: readonly number[], shared: readonly number[], ...steps: readonly Step[]) =>
  (g: GraphBuilder): Written => {
    const q = g.input([...own, Sq, D]);
    const [k, v] = [D, Dv].map(width => g.input([...shared, Skv, width]));
    let s = scoresOf(g, q, k);
    for (const step of steps) s = step(g, s);
    return { o: g.op('MatMul', [g.softmax(s)[0], v]), inputs: [q, k, v] };
  };

/** Tensors of four dimensions, reshaped to five for the products. */
const reshapedGroups = (g: GraphBuilder): Written => {
  const q = g.input([B, H * GROUP, Sq, D]);
  const [k, v] = [D, Dv].map(width => g.input([B, H, Skv, width]));
  const mask = g.input([B, 1, 1, Skv]);
  const [q5, k5, v5] = [
    reshape(g, q, [B, H, GROUP, Sq, D]),
    reshape(g, k, [B, H, 1, Skv, D]),
    reshape(g, v, [B, H, 1, Skv, Dv]),
  ];
  const s = g.op('Add', [divided(g, scoresOf(g, q5, k5)), reshape(g, mask, [B, 1, 1, 1, Skv])]);
  const o = g.op('MatMul', [g.softmax(s)[0], v5]);
  return { o: reshape(g, o, [B, H * GROUP, Sq, Dv]), inputs: [q, k, v] };
};

/** From and to (B, S, H·D), as in linear layers. */
const packedHeads = (g: GraphBuilder): Written => {
  const inputs = [g.input([B, Sq, H * D]), g.input([B, Skv, H * D]), g.input([B, Skv, H * Dv])];
  const [q, k, v] = inputs.map((t, n) => {
    const [rows, width] = [n === 0 ? Sq : Skv, n === 2 ? Dv : D];
    return g.op('StaticTranspose', [reshape(g, t, [B, rows, H, width])], { order: [0, 2, 1, 3] });
  });
  const o = g.op('MatMul', [g.softmax(causal()(g, multiplied(g, scoresOf(g, q, k))))[0], v]);
  return { o: reshape(g, g.op('StaticTranspose', [o], { order: [0, 2, 1, 3] }), [B, Sq, -1]), inputs };
};

/** Keys and values stored with their last two dimensions swapped. */
const storedTransposed = (g: GraphBuilder): Written => {
  const [q, k, v] = [g.input([B, H, Sq, D]), g.input([B, H, D, Skv]), g.input([B, H, Dv, Skv])];
  const p = g.softmax(divided(g, g.op('MatMul', [q, k])))[0];
  return { o: g.op('MatMul', [p, v], { transpose_b: true }), inputs: [q, k, v] };
};

/** The output as Vᵀ·Pᵀ, transposed at the end. */
const transposedProduct = (g: GraphBuilder): Written => {
  const [q, k, v] = [g.input([B, H, Sq, D]), g.input([B, H, D, Skv]), g.input([B, H, Dv, Skv])];
  const p = g.softmax(added(B, 1, Sq, Skv)(g, divided(g, g.op('MatMul', [q, k]))))[0];
  const turned = g.op('Reorder', [g.op('StaticTranspose', [p], { order: [0, 1, 3, 2] })]);
  const o = g.op('MatMul', [v, turned]);
  return { o: g.op('StaticTranspose', [o], { order: [0, 3, 1, 2] }), inputs: [q, k, v] };
};

/** Softmax as maximum, difference, exponential, sum and quotient, with stats from sum and maximum. */
const writtenOut = (g: GraphBuilder): Written => {
  const [q, k, v] = operands(g);
  const s = causal()(g, divided(g, scoresOf(g, q, k)));
  const rows = { axes: [-1], keep_dims: true };
  const max = g.op('ReduceMax', [s], rows);
  const e = g.op('Exp', [g.op('Subtract', [s, max])]);
  const sum = g.op('ReduceSum', [e], rows);
  g.op('Add', [g.op('Log', [sum]), max]);
  return { o: g.op('MatMul', [g.op('Divide', [e, sum]), v]), inputs: [q, k, v] };
};

/** Keys and values in 8 bits with a scale per group; only the queries have a gradient. */
const compressed = (g: GraphBuilder): Written => {
  const q = g.input([B, H, Sq, 4]);
  const stored = (shape: readonly number[], group_shape: readonly number[], dtype: 'i8' | 'u8') => {
    const count = shape.reduce((n, x) => n * x, 1);
    const codes = g.input(shape, { dtype, values: Array.from({ length: count }, (_, n) => (n * 5) % 11) });
    const scales = g.input(shape.map((n, d) => n / group_shape[d]));
    return g.op('DynamicDequantize', [codes, scales], { qtype: 'per_group', group_shape, axis: 3 });
  };
  const s = g.op('MatMul', [q, stored([B, H, 4, 6], [1, 1, 2, 1], 'i8')]);
  const p = g.softmax(g.op('Multiply', [s, g.scalar(0.1)]))[0];
  return { o: g.op('MatMul', [p, stored([B, H, 6, 4], [1, 1, 1, 4], 'u8')]), inputs: [q] };
};

/** All ways to write attention whose result has gradients. */
export const attentionPatterns: Readonly<Record<string, (g: GraphBuilder) => Written>> = {
  'without a scale': chain(),
  'scaled by multiplication': chain(multiplied),
  'scaled by division': chain(divided),
  'with a mask that is added': chain(multiplied, added(B, H, Sq, Skv)),
  'with a padding mask, added': chain(divided, added(B, 1, 1, Skv)),
  'with a mask, added before the scale': chain(added(B, 1, 1, Skv), divided),
  'selected where a mask holds': chain(multiplied, selected(B, 1, Sq, Skv)),
  'selected where a mask does not hold (DistilBERT)': chain(divided, filled(B, 1, 1, Skv)),
  'selected, scaled, then biased (GPT-J)': chain(selected(1, 1, Sq, Skv), divided, added(B, 1, 1, Skv)),
  'biased, then selected': chain(multiplied, added(B, 1, 1, Skv), selected(1, 1, Sq, Skv)),
  'causal from the top left': chain(multiplied, causal()),
  'causal from the bottom right': chain(multiplied, bottomRight),
  'causal with a finite fill': chain(multiplied, causal(-1)),
  'causal, biased and selected': chain(divided, causal(), added(Sq, Skv), selected(B, 1, 1, Skv)),
  'in a sliding window': chain(multiplied, causal(), window),
  softcapped: chain(multiplied, softcapped),
  'softcapped and selected (Gemma 2)': chain(multiplied, softcapped, selected(1, 1, Sq, Skv)),
  'with other functions of the score': chain(
    (g, s) => g.op('Maximum', [g.op('Sigmoid', [s]), g.scalar(0.3)]),
    (g, s) => g.op('Subtract', [g.scalar(1), s]),
    (g, s) => g.op('Elu', [s], { alpha: 0.5 }),
  ),
  'with dropout': probabilities((g, p) => g.op('Dropout', [p, ...stream(g), g.scalar(0.25)])),
  'with dropout, p an attribute': probabilities((g, p) => g.op('Dropout', [p, ...stream(g)], { p: 0.5 })),
  'with dropout written as RNG and two products': probabilities((g, p) => {
    const keep = g.op('RNG', [p, ...stream(g)], { p: 0.25 });
    return g.op('Multiply', [g.op('Multiply', [p, keep]), g.scalar(1.1)]);
  }),
  'with groups of heads in five dimensions': grouped([B, H, GROUP], [B, H, 1], multiplied),
  'with groups of heads, causal and biased': grouped(
    [B, H, GROUP],
    [B, H, 1],
    causal(),
    added(B, 1, 1, Sq, Skv),
  ),
  'with groups of heads by reshapes': reshapedGroups,
  'with one key and value head for all': grouped([B, H], [B, 1], divided),
  'of three dimensions': grouped([B], [B], divided),
  'from and to packed heads': packedHeads,
  'with keys and values stored transposed': storedTransposed,
  'with the product the other way round (JAX)': transposedProduct,
  'with a softmax that is written out': writtenOut,
  'with keys and values in 8 bits': compressed,
};
