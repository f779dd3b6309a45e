import { Tensor } from '../../tensor/tensor.ts';
import { keptShape } from '../check.ts';
import { input } from '../element.ts';
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
  // An output may share the memory of an input, so all maps are computed before the first is stored.
  const maps = wanted.map((value, n) => {
    if (typeof value === 'number') return null;
    const { shape, dtype } = outputs[n];
    const made = Tensor.zeros(shape, { dtype });
    runMap({ kind: 'map', value }, all, made);
    return made;
  });
  for (const [n, made] of maps.entries())
    if (made) runMap({ kind: 'map', value: input(0) }, [made], outputs[n]);
}
