import type { GraphNode } from '../../ir/node.ts';
import { flagOf } from '../../ir/schema/attribute.ts';
import { floats } from '../../ir/schema/ports.ts';
import type { Topology } from '../../ir/topology.ts';
import { type DropoutMatch, dropoutOf } from './dropout.ts';
import { swapsLastTwo } from './product.ts';
import { type RoundingMatch, roundingOf } from './rounding.ts';

/** The operations between the softmax and the product with v. */
export interface Probabilities {
  readonly nodes: readonly GraphNode[];
  readonly dropout: DropoutMatch | null;
  /** The rounding to 8 bits, after dropout. */
  readonly rounding: RoundingMatch | null;
  readonly matmul: GraphNode;
  /** Whether the product is written as Vᵀ·Pᵀ. */
  readonly transposed: boolean;
  /** Whether dimensions are reshaped or reordered in another way. */
  readonly rearranged: boolean;
}

/** The path from the probabilities to their product with v; null if any other operation reads them. */
export function probabilitiesOf(tensor: number, topology: Topology): Probabilities | null {
  const nodes: GraphNode[] = [];
  let at = tensor;
  let dropout: DropoutMatch | null = null;
  let rounding: RoundingMatch | null = null;
  let transposed = false;
  let rearranged = false;
  for (;;) {
    const drop: DropoutMatch | null = dropout || rounding ? null : dropoutOf(at, topology);
    if (drop) {
      dropout = drop;
      nodes.push(...drop.nodes);
      at = drop.result;
      continue;
    }
    const rounded: RoundingMatch | null = rounding ? null : roundingOf(at, topology);
    if (rounded) {
      rounding = rounded;
      nodes.push(...rounded.nodes);
      at = rounded.result;
      continue;
    }
    const [use, ...more] = topology.uses(at);
    if (!use || more.length > 0) return null;
    const { node } = use;
    if (node.kind === 'MatMul' && node.inputs.length === 2) {
      const isSecond = use.input === 1;
      const isFactorTransposed =
        transposed !== flagOf(node.attributes, isSecond ? 'transpose_b' : 'transpose_a');
      if (!rearranged && isSecond !== isFactorTransposed) return null;
      return { nodes, dropout, rounding, matmul: node, transposed: isSecond, rearranged };
    }
    if (node.kind === 'StaticTranspose' && !transposed && swapsLastTwo(node)) transposed = true;
    else if (node.kind === 'StaticTranspose' || node.kind === 'StaticReshape') rearranged = true;
    else if (node.kind !== 'TypeCast' && node.kind !== 'Reorder') return null;
    // A cast to integers or booleans changes the probabilities, which attention would not do.
    if (!floats.includes(node.outputs[0].dtype)) return null;
    nodes.push(node);
    at = node.outputs[0].id;
  }
}
