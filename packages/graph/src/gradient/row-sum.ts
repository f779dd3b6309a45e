import { sameShape } from '@tilewise/core';
import type { Topology } from '../graph/topology.ts';
import { probabilitiesOf } from '../patterns/probabilities.ts';
import type { LogicalTensor } from '../tensor/logical-tensor.ts';
import type { BackwardGraph } from './gradient-builder.ts';

/**
 * Σ_j P_ij dP_ij for probabilities that only go, through dropout and casts, into a product o = P·V: that is Σ_d o_id dO_id (FlashAttention,
 * Dao et al. 2022, appendix B.2), which needs no probabilities.
 * @param gradientOf the gradient by a forward tensor, all that read it having been differentiated.
 * @returns null where o is not given, or P goes elsewhere.
 */
export function rowSum(
  P: LogicalTensor,
  { topology, builder }: { readonly topology: Topology; readonly builder: BackwardGraph },
  gradientOf: (tensor: number) => LogicalTensor | undefined,
): LogicalTensor | null {
  const way = probabilitiesOf(P.id, topology);
  if (!way || way.transposed || way.rearranged || way.rounding) return null;
  const [o] = way.matmul.outputs;
  const members = new Set([...way.nodes, way.matmul]);
  const passed = [P, ...way.nodes.flatMap(node => node.outputs)];
  const isClosed = passed.every(t => topology.uses(t.id).every(({ node }) => members.has(node)));
  const [rowsOfP, rowsOfO] = [P, o].map(t => topology.shapeOf(t.id)?.slice(0, -1));
  if (!isClosed || !rowsOfP || !rowsOfO || !sameShape(rowsOfP, rowsOfO)) return null;
  const given = builder.recovered(o);
  const dO = gradientOf(o.id);
  if (!given || !dO) return null;
  // As the product that gives dP has it, which attention is recognised by.
  const factor = builder.cast(dO, way.matmul.inputs[0].dtype);
  const product = builder.op('Multiply', [builder.cast(given, 'f32'), builder.cast(factor, 'f32')]);
  return builder.op('ReduceSum', [product], { axes: [-1], keep_dims: true });
}
