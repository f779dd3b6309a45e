import { sameShape } from '@tilewise/core';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import type { Topology } from '../../ir/topology.ts';
import { probabilitiesOf } from '../attention/probabilities.ts';
import type { BackwardGraph } from './backward-graph.ts';

/** The gradients that a graph is being given. */
interface Pass {
  readonly topology: Topology;
  readonly builder: BackwardGraph;
  /** By the id of each forward tensor that is differentiated: the gradient by it that is given. */
  readonly seeds: ReadonlyMap<number, LogicalTensor>;
}

/**
 * Σ_j P_ij dP_ij for probabilities that only go, through dropout and casts, into a product o = P·V: that is
 * Σ_d o_id dO_id (FlashAttention, Dao et al. 2022, appendix B.2), which needs no probabilities.
 * @param gradientOf the gradient by a forward tensor, all that read it having been differentiated.
 * @returns null where o is not given, or o does not know all of the gradient by P: on the way to it something
 * has a gradient of its own or is read a second time, be it by the way itself.
 */
export function rowSum(
  P: LogicalTensor,
  { topology, builder, seeds }: Pass,
  gradientOf: (tensor: number) => LogicalTensor | undefined,
): LogicalTensor | null {
  const way = probabilitiesOf(P.id, topology);
  if (!way || way.rearranged || way.rounding) return null;
  const [o] = way.matmul.outputs;
  const passed = [P, ...way.nodes.flatMap(node => node.outputs)];
  // The random numbers of dropout may read P for its shape alone.
  const readers = ({ id }: LogicalTensor) =>
    topology.uses(id).filter(({ node }) => node.operation.gradient !== 'zero');
  const isClosed = passed.every(t => !seeds.has(t.id) && readers(t).length === 1);
  // Of Vᵀ·Pᵀ, which is oᵀ, rows are columns.
  const axis = way.transposed ? -2 : -1;
  const rowsOfP = topology.shapeOf(P.id)?.slice(0, -1);
  const rowsOfO = topology.shapeOf(o.id)?.filter((_, d, { length }) => d !== length + axis);
  if (!isClosed || !rowsOfP || !rowsOfO || !sameShape(rowsOfP, rowsOfO)) return null;
  const given = builder.recovered(o);
  const dO = gradientOf(o.id);
  if (!given || !dO) return null;
  // As the product that gives dP has it, which attention is recognised by.
  const factor = builder.cast(dO, way.matmul.inputs[0].dtype);
  const product = builder.op('Multiply', [builder.cast(given, 'f32'), builder.cast(factor, 'f32')]);
  const sum = builder.op('ReduceSum', [product], { axes: [axis], keep_dims: true });
  if (!way.transposed) return sum;
  return builder.op('StaticTranspose', [sum], { order: [...rowsOfO.slice(1).keys(), -1, -2] });
}
