import type { LogicalTensor } from '@tilewise/graph';
import { GraphWriter } from '../model/graph-writer.ts';

/** What all gradients are to be multiplied by, as a graph. */
export interface Clip {
  readonly g: GraphWriter;
  /** In the order of the shapes. */
  readonly gradients: readonly LogicalTensor[];
  /** At most 1, () */
  readonly factor: LogicalTensor;
}

/** maxNorm / max(maxNorm, norm), the norm being that of all gradients as one vector. */
export function writeClip(shapes: readonly (readonly number[])[], maxNorm: number): Clip {
  const g = new GraphWriter();
  const gradients = shapes.map((shape, n) => g.input(shape, `gradient ${n}`));
  const squares = gradients.map((gradient, n) =>
    g.op('ReduceSum', [g.op('Square', [gradient])], { axes: shapes[n].map((_, d) => d) }),
  );
  const norm = g.op('Sqrt', [squares.reduce((sum, square) => g.op('Add', [sum, square]))]);
  const limit = g.constant(maxNorm);
  return { g, gradients, factor: g.op('Divide', [limit, g.op('Maximum', [norm, limit])]) };
}
