import { type DType, dtypeInfo, Tensor } from '@tilewise/core';
import { sdpaBackwardFloat64, sdpaFloat64 } from '@tilewise/core/reference';
import type { Point } from '../point.ts';
import type { Drawn } from './draw.ts';
import { eager } from './eager.ts';
import { captureName, gradientsOf, type Results } from './run-on-engine.ts';
import type { Comparison } from './tolerance.ts';

/** The exact results of a point, with which those of an engine are compared. */
export interface Golden {
  readonly dO: Tensor;
  readonly lse: Float64Array;
  comparisons(actual: Results): Generator<Comparison>;
}

/**
 * The exact results.
 * @param everyStep whether the yardstick rounds to the inputs' dtype at every step.
 */
export function goldenOf(point: Point, { q, k, v, dO: given, options }: Drawn, everyStep: boolean): Golden {
  const { dtype } = point;
  const { o, lse } = sdpaFloat64(q, k, v, options);
  const dO = point.upstream === 'o' ? Tensor.from(o.values, o.shape, { dtype }) : given;
  const backward = (from: Tensor | typeof o): Record<string, Float64Array> => {
    if (!point.backward) return {};
    const gradients = gradientsOf(point);
    const { dCaptures = {}, ...named } = sdpaBackwardFloat64(
      { q, k, v, o: from, lse, dO },
      { ...options, gradients },
    );
    const captured = Object.entries(dCaptures).map(([name, t]) => [captureName(name), t] as const);
    const all = [...Object.entries(named), ...captured];
    return Object.fromEntries(all.map(([name, { values }]) => [name, values]));
  };
  const exact: Record<string, Float64Array> = { o: o.values, lse: lse.values, ...backward(o) };
  const fromStoredO = dtype === 'f32' ? {} : backward(Tensor.from(o.values, o.shape, { dtype }));
  const yardstick = eager(
    { q, k, v, dO, o: Tensor.from(o.values, o.shape), lse: Tensor.from(lse.values, lse.shape) },
    options,
    { backward: point.backward, products: everyStep ? dtype : 'f32', results: dtype },
  );
  return {
    dO,
    lse: lse.values,
    *comparisons(actual) {
      for (const [result, golden] of Object.entries(exact)) {
        const tensor = actual[result];
        if (!tensor) throw new Error(`${result} was not returned`);
        yield {
          result,
          actual: tensor.toFloat64(),
          golden,
          eager: yardstick[result],
          ...stored(fromStoredO[result], dtype),
        };
      }
    },
  };
}

function stored(values: Float64Array | undefined, dtype: DType): Pick<Comparison, 'fromStoredO'> {
  const { encode, decode } = dtypeInfo[dtype];
  return values ? { fromStoredO: values.map(x => decode(encode(x))) } : {};
}
