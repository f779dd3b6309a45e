import type { GraphNode } from '../../ir/node.ts';
import type { Topology } from '../../ir/topology.ts';
import { comeFromOutside, onlyResultsLeave } from '../fuse/boundary.ts';
import { fuseAfter, fuseBefore, layoutKinds } from '../fuse/fuse.ts';
import { dropoutOperands } from './dropout.ts';
import { type Probabilities, probabilitiesOf } from './probabilities.ts';
import { type ScoreChain, scoreChain } from './score-chain.ts';
import { type SoftmaxMatch, softmaxOf } from './softmax.ts';

/** The operations of a forward pass by role. */
export interface ForwardParts {
  readonly chain: ScoreChain;
  readonly softmax: SoftmaxMatch;
  readonly after: Probabilities;
  /** The operations that decode the operands. */
  readonly before: readonly GraphNode[];
  /** The operations that change the storage of the output, the stats and the largest probability. */
  readonly tails: readonly GraphNode[];
  readonly nodes: ReadonlySet<GraphNode>;
}

/**
 * Recognises attention, for inference or the forward pass of training, by its softmax:
 *
 *     MatMul · score chain · softmax · [TypeCast] [dropout] [rounding] [TypeCast] · MatMul · stored
 *     MatMul · score chain · softmax · StaticTranspose [layout] · MatMul (as its second operand) · stored
 *
 * where rounding is [Multiply] Quantize · Dequantize.
 *
 * Operands may be decoded first, and the storage of the output may change afterwards: [layout, TypeCast,
 * Quantize]*. The `stats` of the softmax and the largest of the quantized probabilities may be results.
 */
export function forwardParts(anchor: GraphNode, topology: Topology): ForwardParts | null {
  const softmax = softmaxOf(anchor, topology);
  const chain = softmax && scoreChain(softmax.scores, topology);
  const after = softmax && chain && probabilitiesOf(softmax.probabilities, topology);
  if (!after) return null;
  const product = after.matmul.outputs[0].id;
  const core = new Set([...chain.nodes, ...softmax.nodes, ...after.nodes, after.matmul]);
  const tail = fuseAfter(product, topology);
  const { largest, factor } = after.rounding ?? { largest: null, factor: null };
  const largestTail = largest && fuseAfter(largest.result, topology, layoutKinds);
  const statsTail = softmax.stats === undefined ? null : fuseAfter(softmax.stats, topology, layoutKinds);
  const [q, k] = chain.matmul.inputs;
  const v = after.matmul.inputs[after.transposed ? 0 : 1];
  const operands = [q, k, v, ...[...chain.nodes].flatMap(node => node.inputs)].map(t => t.id);
  const before = fuseBefore(operands, core, topology);
  // If there are as many keys as channels, v could be the scores themselves; no attention call accepts that.
  const others = [
    ...[v.id, ...(after.dropout ? dropoutOperands(after.dropout) : [])],
    ...(factor === null ? [] : [factor]),
  ];
  const entering = [...others, ...before.flatMap(node => node.inputs.map(t => t.id))];
  if (!comeFromOutside(entering, core, topology)) return null;
  const ends = [tail, ...[statsTail, largestTail].filter(own => own !== null)];
  const tails = ends.flatMap(own => own.nodes);
  const nodes = new Set([...before, ...core, ...tails]);
  if (!onlyResultsLeave(nodes, new Set(ends.map(own => own.result)), topology)) return null;
  return { chain, softmax, after, before, tails, nodes };
}
