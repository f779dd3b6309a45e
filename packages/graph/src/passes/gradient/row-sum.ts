import { sameShape } from '@tilewise/core';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import type { Topology } from '../../ir/topology.ts';
import { probabilitiesOf } from '../attention/probabilities.ts';
import type { BackwardGraph } from './backward-graph.ts';

/** A backward graph under construction. */
interface Pass {
  readonly topology: Topology;
  readonly builder: BackwardGraph;
  /** The given gradients, by the ids of the differentiated tensors. */
  readonly seeds: ReadonlyMap<number, LogicalTensor>;
}

/**
 * Σ_j P_ij dP_ij for probabilities that only one product o = P·V reads, through dropout and casts. The sum
 * equals Σ_d o_id dO_id (FlashAttention, Dao et al. 2022, appendix B.2), which needs no probabilities.
 * @param gradientOf returns the gradient of a forward tensor, after all its readers have been differentiated.
 * @returns null if o is not given, or if P has another gradient, because a tensor between P and o has its own
 * gradient or a second reader.
 */
export function rowSum(
  P: LogicalTensor,
  { topology, builder, seeds }: Pass,
  gradientOf: (tensor: number) => LogicalTensor | undefined,
): LogicalTensor | null {
  const path = probabilitiesOf(P.id, topology);
  if (!path || path.rearranged || path.rounding) return null;
  const [o] = path.matmul.outputs;
  const passed = [P, ...path.nodes.flatMap(node => node.outputs)];
  // RNG may also read P, because it uses only its shape.
  const readers = ({ id }: LogicalTensor) =>
    topology.uses(id).filter(({ node }) => node.operation.gradient !== 'zero');
  const isClosed = passed.every(t => !seeds.has(t.id) && readers(t).length === 1);
  // In Vᵀ·Pᵀ = oᵀ, the rows are columns.
  const axis = path.transposed ? -2 : -1;
  const rowsOfP = topology.shapeOf(P.id)?.slice(0, -1);
  const rowsOfO = topology.shapeOf(o.id)?.filter((_, d, { length }) => d !== length + axis);
  if (!isClosed || !rowsOfP || !rowsOfO || !sameShape(rowsOfP, rowsOfO)) return null;
  const given = builder.recovered(o);
  const dO = gradientOf(o.id);
  if (!given || !dO) return null;
  // Uses the dtype of dP's product, because attention is recognised by it.
  const factor = builder.cast(dO, path.matmul.inputs[0].dtype);
  const product = builder.op('Multiply', [builder.cast(given, 'f32'), builder.cast(factor, 'f32')]);
  const sum = builder.op('ReduceSum', [product], { axes: [axis], keep_dims: true });
  if (!path.transposed) return sum;
  return builder.op('StaticTranspose', [sum], { order: [...rowsOfO.slice(1).keys(), -1, -2] });
}
