import { sameShape, type Tensor } from '@tilewise/core';

/** A weight with the same values as another weight. */
export interface TiedWeight {
  readonly weight: string;
  /** Whether the other weight is transposed. */
  readonly isTransposed: boolean;
}

/**
 * Matrices that equal an earlier matrix, as they are or transposed: exporters write a tied weight twice, and
 * training must update both copies together. Matrices with a single repeated value are not compared.
 */
export function tiedWeights(weights: ReadonlyMap<string, Tensor>): ReadonlyMap<string, TiedWeight> {
  const tied = new Map<string, TiedWeight>();
  const firsts: (readonly [name: string, tensor: Tensor, values: Float64Array])[] = [];
  for (const [name, tensor] of weights) {
    if (tensor.shape.length !== 2) continue;
    const same = firsts.filter(([, other]) => other.size === tensor.size && other.dtype === tensor.dtype);
    const values = tensor.toFloat64();
    const found = same.flatMap(([weight, other, others]): TiedWeight[] => {
      const [rows = 1, columns = 1] = tensor.shape;
      if (sameShape(other.shape, tensor.shape) && values.every((x, n) => x === others[n]))
        return [{ weight, isTransposed: false }];
      const isTransposed =
        other.shape[0] === columns &&
        values.every((x, n) => x === others[(n % columns) * rows + Math.floor(n / columns)]);
      return isTransposed ? [{ weight, isTransposed }] : [];
    })[0];
    const isVaried = values.some(x => x !== values[0]);
    if (found) tied.set(name, found);
    else if (isVaried) firsts.push([name, tensor, values]);
  }
  return tied;
}
