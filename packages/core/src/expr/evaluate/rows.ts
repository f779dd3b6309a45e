import { dtypeInfo } from '../../tensor/dtype/dtype.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { checkedNodes } from '../check.ts';
import type { Expr } from '../nodes/expr.ts';
import { compile, loadConversions } from './evaluate.ts';
import { hostLoaders } from './host-loaders.ts';
import { compileLines, type Leaf, type LeafOf } from './lines.ts';

/**
 * Returns the values at the keys 0 ≤ kv < n of one query; a bool is 0 or 1. The array is reused for the next
 * row.
 */
export type EvaluateRow = (b: number, h: number, q: number) => Float64Array;

/** The batch entry, query head and query of a row. */
type Row = readonly [b: number, h: number, q: number];

/**
 * Compiles an expression that does not read the score for evaluation row by row, with the values of `compile`
 * for every pair.
 * @param n keys per row.
 * @throws as `compile` and `hostLoaders`; for an index outside a tensor only if the value is needed.
 */
export function compileRows(expr: Expr, captures: Readonly<Record<string, Tensor>>, n: number): EvaluateRow {
  checkedNodes(expr);
  const loaders = hostLoaders(captures);
  let exact: ReturnType<typeof compile> | undefined;
  // A condition may guard a load. A row in which any load leaves its tensor is evaluated pair by pair.
  let isInside = true;
  const leafOf: LeafOf<Row> = (e, index) => {
    if (e.kind === 'variable') return variableLeaf(e.name);
    // This call throws for a missing capture.
    loaders(e.name);
    const { data, offset, shape, strides, dtype } = captures[e.name];
    const { decode } = dtypeInfo[dtype];
    const convert = loadConversions[e.type];
    return {
      varies: index.some(line => line.varies),
      fill(out, count) {
        for (let kv = 0; kv < count; kv++) {
          let at = offset;
          let inside = index.length === shape.length;
          for (let d = 0; d < index.length; d++) {
            const i = index[d].values[kv];
            inside &&= i >= 0 && i < shape[d];
            at += i * strides[d];
          }
          isInside &&= inside;
          out[kv] = inside ? convert(decode(data[at])) : 0;
        }
      },
    };
  };
  const line = compileLines(expr, n, leafOf);
  return (b, h, q) => {
    isInside = true;
    const values = line([b, h, q]);
    if (isInside) return values;
    exact ??= compile(expr, loaders);
    for (let kv = 0; kv < n; kv++) values[kv] = exact(NaN, b, h, q, kv);
    return values;
  };
}

function variableLeaf(name: string): Leaf<Row> {
  const varies = name === 'kv';
  const which = ['b', 'h', 'q'].indexOf(name);
  return {
    varies,
    fill(out, count, row) {
      if (varies) for (let kv = 0; kv < count; kv++) out[kv] = kv;
      else out[0] = which < 0 ? NaN : row[which];
    },
  };
}
