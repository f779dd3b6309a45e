import { dtypeInfo } from '../../tensor/dtype/dtype.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { checkedNodes } from '../check.ts';
import type { Expr } from '../nodes/expr.ts';
import { compile, loadConversions } from './evaluate.ts';
import { hostLoaders } from './host-loaders.ts';
import { compileLines, type Leaf, type LeafOf } from './lines.ts';

/** Values at the keys 0 ≤ kv < n of one query; a bool is 0 or 1. The array is used again for the next row. */
export type EvaluateRow = (b: number, h: number, q: number) => Float64Array;

/** Batch entry, query head and query of a row. */
type Row = readonly [b: number, h: number, q: number];

/**
 * An expression without a score, evaluated row by row; the same as `compile` at every place.
 * @param n keys of a row.
 * @throws as `compile` and `hostLoaders`; for an index outside a tensor only where the value is needed.
 */
export function compileRows(expr: Expr, captures: Readonly<Record<string, Tensor>>, n: number): EvaluateRow {
  checkedNodes(expr);
  const loaders = hostLoaders(captures);
  let exact: ReturnType<typeof compile> | undefined;
  // A load may be guarded by a condition; rows in which one leaves its tensor are evaluated place by place.
  let isInside = true;
  const leafOf: LeafOf<Row> = (e, index) => {
    if (e.kind === 'variable') return variableLeaf(e.name);
    // Throws for a capture that is missing.
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
    fill(out, count, place) {
      if (varies) for (let kv = 0; kv < count; kv++) out[kv] = kv;
      else out[0] = which < 0 ? NaN : place[which];
    },
  };
}
