import { Tensor } from '../../tensor/tensor.ts';
import { keptShape } from '../check.ts';
import { input } from '../element.ts';
import type { RowsPrimitive } from '../primitive.ts';
import { runMap } from './map.ts';
import { runReduce } from './reduce.ts';

/**
 * Runs reductions and maps of one domain on host tensors, one after the other. Later expressions read the
 * result of a reduction in f32, whether or not it is stored as an output of a smaller dtype.
 */
export function runRows(
  { domain, axes, reductions, outputs: wanted }: RowsPrimitive,
  inputs: readonly Tensor[],
  outputs: readonly Tensor[],
): void {
  const all = [...inputs];
  for (const { op, element, result } of reductions) {
    const sums = Tensor.zeros(keptShape({ domain, axes }));
    runReduce({ kind: 'reduce', op, axes, domain, element, result }, all, sums);
    all.push(sums);
  }
  // An output may share the memory of an input, so everything is computed before anything is stored.
  const results = wanted.map((value, n) => {
    if (typeof value === 'number') return all[inputs.length + value];
    const { shape, dtype } = outputs[n];
    const made = Tensor.zeros(shape, { dtype });
    runMap({ kind: 'map', value }, all, made);
    return made;
  });
  for (const [n, own] of results.entries()) runMap({ kind: 'map', value: input(0) }, [own], outputs[n]);
}
