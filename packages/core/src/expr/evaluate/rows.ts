import { dtypeInfo } from '../../tensor/dtype/dtype.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { checkedNodes } from '../check.ts';
import type { Expr, VariableName } from '../nodes/expr.ts';
import { compile, loadConversions } from './evaluate.ts';
import { hostLoaders } from './host-loaders.ts';
import { compileLines, type Leaf, type LeafOf } from './lines.ts';

/** The pairs of one query and `count` neighbouring keys from `kv` on. */
export interface PairRow {
  readonly b: number;
  readonly h: number;
  readonly q: number;
  readonly kv: number;
  readonly count: number;
  /** The scores of the pairs, from element `at` on; empty for an expression that does not read the score. */
  readonly scores: ArrayLike<number>;
  readonly at: number;
}

/**
 * Returns the values of an expression for the pairs of a row; a bool is 0 or 1. The array is reused for the
 * next row. The value of pair n is undefined if `isNeeded(n)` is false.
 */
export type EvaluateRow = (row: PairRow, isNeeded?: (n: number) => boolean) => Float64Array;

/**
 * Compiles an expression for evaluation row by row, with the values of `compile` for every pair.
 * @param width the maximum number of keys per row.
 * @throws as `compile` and `hostLoaders`; for an index outside a tensor only if the value is needed.
 */
export function compileRows(
  expr: Expr,
  captures: Readonly<Record<string, Tensor>>,
  width: number,
): EvaluateRow {
  checkedNodes(expr);
  const loaders = hostLoaders(captures);
  let exact: ReturnType<typeof compile> | undefined;
  // A condition may guard a load. A row in which any load leaves its tensor is evaluated pair by pair.
  let isInside = true;
  const leafOf: LeafOf<PairRow> = (e, index) => {
    if (e.kind === 'variable') return variableLeaves[e.name];
    // This call throws for a missing capture.
    loaders(e.name);
    const { data, offset, shape, strides, dtype } = captures[e.name];
    const { decode } = dtypeInfo[dtype];
    const convert = loadConversions[e.type];
    return {
      varies: index.some(line => line.varies),
      fill(out, count) {
        isInside &&= index.length === shape.length;
        for (let n = 0; isInside && n < count; n++) {
          let at = offset;
          for (let d = 0; d < index.length; d++) {
            const i = index[d].values[n];
            isInside &&= i >= 0 && i < shape[d];
            at += i * strides[d];
          }
          out[n] = isInside ? convert(decode(data[at])) : 0;
        }
      },
    };
  };
  const line = compileLines(expr, width, leafOf);
  return (row, isNeeded) => {
    isInside = true;
    const { b, h, q, kv, count, scores, at } = row;
    const values = line(row, count);
    if (isInside) return values;
    exact ??= compile(expr, loaders);
    for (let n = 0; n < count; n++) {
      if (!isNeeded || isNeeded(n)) values[n] = exact(scores[at + n], b, h, q, kv + n);
    }
    return values;
  };
}

function fixedLeaf(name: 'b' | 'h' | 'q'): Leaf<PairRow> {
  return {
    varies: false,
    fill(out, _count, row) {
      out[0] = row[name];
    },
  };
}

const variableLeaves: Readonly<Record<VariableName, Leaf<PairRow>>> = {
  b: /* @__PURE__ */ fixedLeaf('b'),
  h: /* @__PURE__ */ fixedLeaf('h'),
  q: /* @__PURE__ */ fixedLeaf('q'),
  kv: {
    varies: true,
    fill(out, count, { kv }) {
      for (let n = 0; n < count; n++) out[n] = kv + n;
    },
  },
  score: {
    varies: true,
    fill(out, count, { scores, at }) {
      for (let n = 0; n < count; n++) out[n] = scores[at + n];
    },
  },
};
