import { InvalidArgumentError } from '../../../errors.ts';
import { compileLines, type EvaluateLine, type LeafOf, type Line } from '../../../expr/evaluate/lines.ts';
import type { Expr } from '../../../expr/nodes/expr.ts';
import type { Shape } from '../../../tensor/shape.ts';
import type { Tensor } from '../../../tensor/tensor.ts';
import { inputName } from '../../element.ts';
import { broadcastStrides, offsetOf, reader } from './reader.ts';

/** The index at which a line starts. */
type Start = readonly number[];

/**
 * Evaluates an expression of a primitive (see `element.ts`) in f64, over inputs that are broadcast to
 * `shape`, for lines of `width` elements along one dimension.
 */
export function lineEvaluator(
  expr: Expr,
  inputs: readonly Tensor[],
  shape: Shape,
  dimension: number,
  width: number,
): EvaluateLine<Start> {
  const leafOf: LeafOf<Start> = (e, index) => {
    if (e.kind === 'variable')
      throw new InvalidArgumentError('value', `of a primitive cannot read '${e.name}'`);
    if (e.name === 'coordinate') {
      // The dimension is a constant.
      const d = index[0].values[0];
      return {
        varies: d === dimension,
        fill(out, count, start) {
          for (let n = 0; n < count; n++) out[n] = start[d] + n;
        },
      };
    }
    const input = inputs.find((_, n) => inputName(n) === e.name);
    if (!input) {
      throw new InvalidArgumentError('inputs', `has no tensor for '${e.name}', which the expression reads`);
    }
    return index.length === 0 ? lineOfInput(input, shape, dimension) : elementsAt(input, index);
  };
  return compileLines(expr, width, leafOf);
}

/** Reads the elements of an input along the line. */
function lineOfInput(input: Tensor, shape: Shape, dimension: number): ReturnType<LeafOf<Start>> {
  const strides = broadcastStrides(input, shape);
  const step = strides[dimension] ?? 0;
  const { data, dtype, offset } = input;
  const read = reader(input);
  return {
    varies: step !== 0,
    fill(out, count, start) {
      const from = offset + offsetOf(start, strides);
      if (dtype === 'f32') for (let n = 0; n < count; n++) out[n] = data[from + n * step];
      else for (let n = 0; n < count; n++) out[n] = read(from + n * step);
    },
  };
}

/** Reads the elements of an input at its own indices. */
function elementsAt(input: Tensor, index: readonly Line[]): ReturnType<LeafOf<Start>> {
  const { offset, strides, shape } = input;
  const read = reader(input);
  return {
    varies: index.some(line => line.varies),
    fill(out, count) {
      for (let n = 0; n < count; n++) {
        let at = offset;
        // As on a device, an index outside the tensor is clamped to its edge.
        for (let d = 0; d < index.length; d++) {
          at += Math.min(Math.max(index[d].values[n], 0), shape[d] - 1) * strides[d];
        }
        out[n] = read(at);
      }
    },
  };
}
