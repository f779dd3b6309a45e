import { compile } from '../../expr/evaluate.ts';
import type { Tensor } from '../../tensor/tensor.ts';
import type { ReducePrimitive } from '../primitive.ts';
import { elementEvaluator } from './element-evaluator.ts';
import { lineWriter } from './line-writer.ts';
import { forEachIndex, offsetOf } from './reader.ts';

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
  const at = elementEvaluator(element, inputs, domain);
  let value = start;
  const finish = compile(result, () => () => value);
  const write = lineWriter(output);
  const line = new Float64Array(1);
  const isReduced = domain.map((_, d) => axes.includes(d));
  const kept = domain.map((n, d) => (isReduced[d] ? 1 : n));
  const inner = domain.map((n, d) => (isReduced[d] ? n : 1));
  const index = domain.map(() => 0);
  const last = domain.length - 1;
  // Lines along the last reduced dimension, so that most steps are cheap.
  const lineAxis = isReduced[last] ? last : Math.max(...axes);
  const width = domain[lineAxis] ?? 1;
  const starts = inner.map((n, d) => (d === lineAxis ? Math.min(n, 1) : n));

  forEachIndex(kept, place => {
    value = start;
    forEachIndex(starts, offset => {
      for (let d = 0; d < index.length; d++) index[d] = place[d] + offset[d];
      at.moveTo(index);
      for (let n = 0; n < width; n++) {
        value = join(value, at.value());
        at.step(lineAxis);
      }
    });
    line[0] = finish(0, 0, 0, 0, 0);
    write(line, 1, output.offset + offsetOf(place, output.strides), 1);
  });
}
