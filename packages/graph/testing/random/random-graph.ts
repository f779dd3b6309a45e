import { inferShapes } from '../../src/ir/infer.ts';
import { isKnown, type LogicalTensor } from '../../src/ir/tensor/logical-tensor.ts';
import { GraphBuilder } from '../attention/attention-graph.ts';
import { attentionPatterns } from '../attention/attention-patterns.ts';
import { Choices } from './choices.ts';
import type { Known } from './random-known.ts';
import { functionStep, randomStep } from './random-steps.ts';

/**
 * A valid graph of up to about ten operations: attention with arbitrary score operations, and operations
 * before, after and next to it.
 */
export function randomGraph(seed: number): GraphBuilder {
  const choose = new Choices(seed);
  const g = new GraphBuilder(choose.of(['known', 'unknown', 'rankless']));
  const pool: Known[] = [];
  for (let n = 1 + choose.below(2); n > 0; n--) {
    const start = choose.below(4);
    if (start > 1) pool.push(attention(g, choose, pool));
    else if (start > 0) pool.push(patternFromTable(g, choose));
    else pool.push(chain(g, choose, { tensor: g.input([2, 3, 4]), shape: [2, 3, 4] }));
  }
  for (let n = choose.below(4); n > 0; n--) pool.push(randomStep(g, choose, choose.of(pool)));
  // There are many functions, so the seed selects one, and every function occurs in some graph.
  pool.push(functionStep(g, seed, choose.of(pool)));
  return g;
}

function chain(g: GraphBuilder, choose: Choices, start: Known): Known {
  let at = start;
  for (let n = 1 + choose.below(4); n > 0; n--) at = randomStep(g, choose, at);
  return at;
}

/** One of the ways to write attention that are known to be recognised, followed by another operation. */
function patternFromTable(g: GraphBuilder, choose: Choices): Known {
  const { o } = choose.of(Object.values(attentionPatterns))(g);
  const shape = inferShapes(g.graph.nodes, g.shapes()).get(o.id);
  return { tensor: o, shape: isKnown(shape ?? null) ? (shape as readonly number[]) : [] };
}

/** An operation with another tensor, on either side, that broadcasts to this one. */
function binary(
  g: GraphBuilder,
  choose: Choices,
  tensor: LogicalTensor,
  shape: readonly number[],
): LogicalTensor {
  const other = g.input(shape.slice(choose.below(shape.length + 1)).map(n => (choose.below(2) ? n : 1)));
  const kind = choose.of(['Add', 'Subtract', 'Multiply', 'Maximum', 'Minimum']);
  return g.op(kind, choose.below(2) ? [tensor, other] : [other, tensor]);
}

/** Attention with a random score chain, random heads, and perhaps dropout. */
function attention(g: GraphBuilder, choose: Choices, pool: readonly Known[]): Known {
  const [Sq, Skv, D, Dv] = [2, 3, 5, 4].map(n => n + choose.below(3));
  const groups = choose.of([[2], [2, 3], [2, 2, 3], [1, 2], []]);
  const shared = groups.map((n, d) => (d > 0 && choose.below(3) === 0 && d === groups.length - 1 ? 1 : n));
  const before = pool.find(({ shape }) => `${shape}` === `${[...groups, Sq, D]}`);
  const q = before ? before.tensor : g.input([...groups, Sq, D]);
  const isRows = choose.below(2) === 0;
  const k = g.input([...shared, ...(isRows ? [Skv, D] : [D, Skv])]);
  let s = g.op('MatMul', [q, k], { transpose_b: isRows });
  const shape = [...groups, Sq, Skv];
  // Once a score is −∞, no operation may turn it into +∞ or NaN.
  const hidden = { any: false };
  for (let n = choose.below(4); n > 0; n--) s = scoreStep(g, choose, s, shape, hidden);
  const [softmax, stats] = g.softmax(s);
  let p = softmax;
  // Occasionally a shape that attention does not have: shared by heads, or with a factor per key.
  const odd = (extents: readonly number[]) =>
    choose.below(4) ? extents : extents.map((n, d) => (d === 1 ? 1 : n));
  if (choose.below(6) === 0) {
    const stream = [g.scalar(BigInt(choose.below(1000)), 'i64'), g.scalar(1n, 'i64')];
    const keep = g.op('RNG', [g.input(odd(shape)), ...stream], { p: choose.of([0.2, 0.5]) });
    const factor = g.input(choose.below(4) ? [] : [Skv]);
    p = g.op('Multiply', [g.op('Multiply', [p, keep]), factor]);
  } else if (choose.below(3) === 0) {
    p = g.op('Dropout', [
      p,
      g.scalar(BigInt(choose.below(1000)), 'i64'),
      g.scalar(1n, 'i64'),
      g.scalar(choose.of([0, 0.3, 1])),
    ]);
  }
  if (choose.below(8) === 0) g.graph.op('End', { inputs: [choose.of([s, p, stats])], outputs: [] });
  // v may have one dimension more than the scores.
  const more = choose.below(12) ? [] : [2];
  const full = more.length > 0 ? groups : shared;
  return {
    tensor: g.op('MatMul', [p, g.input([...more, ...full, Skv, Dv])]),
    shape: [...more, ...groups, Sq, Dv],
  };
}

function scoreStep(
  g: GraphBuilder,
  choose: Choices,
  s: LogicalTensor,
  shape: readonly number[],
  hidden: { any: boolean },
): LogicalTensor {
  const fillOf = (list: readonly number[]): LogicalTensor => {
    const fill = choose.of(list);
    hidden.any ||= fill === -Infinity;
    return g.scalar(fill);
  };
  const bits = (extents: readonly number[]) =>
    g.input(extents, {
      dtype: 'bool',
      values: Array.from({ length: extents.reduce((n, x) => n * x, 1) }, () => (choose.below(4) ? 1 : 0)),
    });
  switch (choose.below(6)) {
    case 0:
      return g.op(
        'Multiply',
        choose.below(2)
          ? [s, g.scalar(choose.of(hidden.any ? [0.5, 2] : [0.5, 2, -0.3]))]
          : [g.scalar(0.7), s],
      );
    case 1:
      return g.op('Divide', [s, g.scalar(choose.of([2, 8]))]);
    case 2:
      return g.op('Multiply', [g.op('Tanh', [s]), g.scalar(choose.of([1.5, 3]))]);
    case 3: {
      const fill = fillOf([-Infinity, -1e4, -1]);
      const cond = bits(shape.slice(choose.below(shape.length - 1)).map(n => (choose.below(3) ? n : 1)));
      return g.op('Select', choose.below(2) ? [cond, s, fill] : [cond, fill, s]);
    }
    case 4: {
      const [a, b] = choose.of([
        [-2, -1],
        [-1, -2],
        [shape.length - 2, shape.length - 1],
        [0, -1],
      ]);
      // The index comes from the scores or from a tensor that broadcasts to them.
      const like = choose.below(3) ? s : g.input([choose.of([1, shape.at(-2) ?? 1]), shape.at(-1) ?? 1]);
      let row = g.op('GenIndex', [like], { axis: like === s ? a : choose.of([-2, -1, 0, 1]) }, 'i32');
      if (choose.below(2))
        row = g.op(choose.of(['Add', 'Subtract']), [row, g.scalar(choose.below(4), 'i32')], {}, 'i32');
      const visible = g.op('GreaterEqual', [row, g.op('GenIndex', [s], { axis: b }, 'i32')], {}, 'bool');
      return g.op('Select', [visible, s, fillOf([-Infinity, -2])]);
    }
    default:
      return hidden.any ? g.op('Add', [s, g.input([shape[shape.length - 1]])]) : binary(g, choose, s, shape);
  }
}
