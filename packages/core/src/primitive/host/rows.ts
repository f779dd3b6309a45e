import { Tensor } from '../../tensor/tensor.ts';
import { keptShape } from '../check.ts';
import type { RowsPrimitive } from '../primitive.ts';
import { runMap } from './map.ts';
import { runReduce } from './reduce.ts';

/** Runs reductions and maps of one domain on host tensors, one after the other. */
export function runRows(
  { domain, axes, reductions, outputs: wanted }: RowsPrimitive,
  inputs: readonly Tensor[],
  outputs: readonly Tensor[],
): void {
  const all = [...inputs];
  for (const [n, { op, element, result }] of reductions.entries()) {
    const place = wanted.indexOf(n);
    const sums = place >= 0 ? outputs[place] : Tensor.zeros(keptShape({ domain, axes }));
    runReduce({ kind: 'reduce', op, axes, domain, element, result }, all, sums);
    all.push(sums);
  }
  for (const [n, value] of wanted.entries()) {
    if (typeof value !== 'number') runMap({ kind: 'map', value }, all, outputs[n]);
  }
}
