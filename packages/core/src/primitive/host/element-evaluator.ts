import { InvalidArgumentError } from '../../errors.ts';
import { compile } from '../../expr/evaluate.ts';
import type { Expr } from '../../expr/expr.ts';
import type { Shape } from '../../tensor/shape.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import { inputName } from '../element.ts';
import { broadcastStrides, type Reader, reader } from './reader.ts';

/** An expression over inputs that are broadcast to a shape, at a place that is moved about. */
export interface ElementEvaluator {
  /** Goes to an index of the shape. */
  moveTo(index: readonly number[]): void;
  /** Goes one step further along a dimension. */
  step(dimension: number): void;
  /** The value at the place, in f64. */
  value(): number;
}

/** The evaluator of an expression as `element.ts` writes them. */
export function elementEvaluator(expr: Expr, inputs: readonly Tensor[], shape: Shape): ElementEvaluator {
  const readers: readonly Reader[] = inputs.map(reader);
  const strides = inputs.map(t => broadcastStrides(t, shape));
  const at = inputs.map(t => t.offset);
  const coordinates = shape.map(() => 0);
  const byName = new Map(inputs.map((_, n) => [inputName(n), n] as const));

  const evaluate = compile(expr, name => {
    if (name === 'coordinate') return ([d]) => coordinates[d];
    const n = byName.get(name);
    if (n === undefined) {
      throw new InvalidArgumentError('inputs', `has no tensor for '${name}', which the expression reads`);
    }
    const read = readers[n];
    const { offset, strides: own, shape: extents } = inputs[n];
    return index => {
      if (index.length === 0) return read(at[n]);
      let place = offset;
      // As on a device, an index outside the tensor is brought back to its edge.
      for (let d = 0; d < index.length; d++) {
        place += Math.min(Math.max(index[d], 0), extents[d] - 1) * own[d];
      }
      return read(place);
    };
  });

  return {
    moveTo(index) {
      for (let d = 0; d < index.length; d++) coordinates[d] = index[d];
      for (let n = 0; n < at.length; n++) {
        at[n] = inputs[n].offset;
        for (let d = 0; d < index.length; d++) at[n] += index[d] * strides[n][d];
      }
    },
    step(dimension) {
      coordinates[dimension]++;
      for (let n = 0; n < at.length; n++) at[n] += strides[n][dimension];
    },
    value: () => evaluate(0, 0, 0, 0, 0),
  };
}
