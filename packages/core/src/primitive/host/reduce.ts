import { compile } from '../../expr/evaluate/evaluate.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import type { ReducePrimitive } from '../primitive.ts';
import { lineEvaluator } from './lines/line-evaluator.ts';
import { lineWriter } from './lines/line-writer.ts';
import { forEachIndex, offsetOf } from './lines/reader.ts';

const operators: Readonly<
  Record<ReducePrimitive['op'], { readonly start: number; readonly join: (a: number, b: number) => number }>
> = {
  sum: { start: 0, join: (a, b) => a + b },
  prod: { start: 1, join: (a, b) => a * b },
  max: { start: -Infinity, join: Math.max },
  min: { start: Infinity, join: Math.min },
};

/** Runs a reduction on host tensors, in f64, each result rounded once. */
export function runReduce(
  { op, axes, domain, element, result }: ReducePrimitive,
  inputs: readonly Tensor[],
  output: Tensor,
): void {
  const { start, join } = operators[op];
  const last = domain.length - 1;
  const width = domain[last] ?? 1;
  const line = lineEvaluator(element, inputs, domain, last, width);
  const isReduced = domain.map((_, d) => axes.includes(d));
  const kept = domain.map((n, d) => (isReduced[d] || d === last ? 1 : n));
  const inner = domain.map((n, d) => (isReduced[d] && d !== last ? n : 1));
  const index = domain.map(() => 0);
  // Along the last dimension, either all elements are reduced to one, or each has its own result.
  const along = isReduced[last] ? 1 : width;
  const values = new Float64Array(along);
  let value = start;
  const finish = compile(result, () => () => value);
  const write = lineWriter(output);

  forEachIndex(kept, first => {
    values.fill(start);
    forEachIndex(width === 0 ? [0] : inner, offset => {
      for (let d = 0; d < index.length; d++) index[d] = first[d] + offset[d];
      const elements = line(index);
      if (along === 1) for (let n = 0; n < width; n++) values[0] = join(values[0], elements[n]);
      else for (let n = 0; n < width; n++) values[n] = join(values[n], elements[n]);
    });
    for (let n = 0; n < along; n++) {
      value = values[n];
      values[n] = finish(0, 0, 0, 0, 0);
    }
    write(values, along, output.offset + offsetOf(first, output.strides), output.strides[last] ?? 0);
  });
}
