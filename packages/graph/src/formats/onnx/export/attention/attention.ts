import type { GraphNode } from '../../../../ir/node.ts';
import { flagOf } from '../../../../ir/schema/attribute.ts';
import type { GraphDType } from '../../../../ir/tensor/dtype.ts';
import { isKnown, type LogicalTensor } from '../../../../ir/tensor/logical-tensor.ts';
import type { Topology } from '../../../../ir/topology.ts';
import { scoreChain } from '../../../../passes/attention/score-chain.ts';
import { softmaxOf } from '../../../../passes/attention/softmax.ts';
import type { OnnxAttribute } from '../../model.ts';
import type { OnnxWriter } from '../writer.ts';
import { writeMask } from './mask.ts';
import { attentionOperands, folded, writeOperand } from './operands.ts';
import { type AttentionNumbers, type ScoreForm, scoreForm } from './scores.ts';

/** Operations that one ONNX `Attention` expresses. */
export interface AttentionForm {
  readonly nodes: ReadonlySet<GraphNode>;
  write(write: OnnxWriter): void;
}

/**
 * Recognises operations that are equivalent to ONNX's `Attention`:
 *
 *     MatMul · (scale)* · [softcap] · [mask to add, mask to select, causal mask]* · SoftMax · MatMul
 *
 * over (B, H, S, D), or (B, Hk, Hq/Hk, S, D) by reshapes. ONNX anchors the causal diagonal at the first query
 * and the first key, and caps scores before it masks them. Null if the operations have another form, or if a
 * number that ONNX takes as an attribute is not known before execution. The node computes in the dtype of the
 * scores, because ONNX's scores have the dtype of the operands.
 */
export function attentionForm(anchor: GraphNode, topology: Topology): AttentionForm | null {
  const softmax = softmaxOf(anchor, topology);
  const chain = softmax && scoreChain(softmax.scores, topology);
  const after = softmax && valueProduct(softmax.probabilities, topology);
  if (!chain || !after || softmax.stats !== undefined) return null;
  const operands = attentionOperands(chain.matmul, after.matmul, topology);
  if (!operands) return null;
  const { q, k, v, heads } = operands;
  const { rank } = heads;
  const [product] = chain.matmul.outputs;
  // An operand may repeat the scores along a dimension; the mask of `Attention` may not.
  if (`${topology.shapeOf(softmax.scores)}` !== `${topology.shapeOf(product.id)}`) return null;
  const scores = scoreForm(chain.links, rank, topology);
  if (!scores || (softmax.axis !== -1 && softmax.axis !== rank - 1)) return null;
  const masks = Object.values(scores.masks);
  const shapes = masks.map(({ id }) => topology.shapeOf(id));
  if (!shapes.every(shape => isKnown(shape) && folded(shape, heads))) return null;
  const nodes = new Set([...chain.nodes, ...softmax.nodes, ...after.nodes]);
  // A mask may be computed from the scores, which `Attention` does not give.
  const read = [...masks, ...scores.factors.map(({ tensor }) => tensor)];
  const isInner = ({ outputs }: GraphNode): boolean => outputs.some(t => read.some(({ id }) => id === t.id));
  if ([...nodes].some(isInner)) return null;
  const [o] = after.matmul.outputs;
  const { dtype } = product;
  return {
    nodes,
    write: write => {
      const names = {
        q: scaled(writeOperand(q, dtype, heads, write), dtype, scores, write),
        k: writeOperand(k, dtype, heads, write),
        v: writeOperand(v, dtype, heads, write),
        mask: writeMask(scores.masks, dtype, heads, write),
      };
      if (rank === 4) writeAttention(o, dtype, names, scores, write);
      else {
        const result = attentionNode(names, scores, write);
        write.give(o, dtype, 'Reshape', [result, write.integers(topology.shapeOf(o.id) ?? [])]);
      }
    },
  };
}

/** The inputs of `Attention`. */
export interface AttentionNames {
  readonly q: string;
  readonly k: string;
  readonly v: string;
  readonly mask: string | null;
  /** The cached keys and values that precede k and v. */
  readonly pastK?: string | null;
  readonly pastV?: string | null;
  /** The number of keys in each batch entry. */
  readonly lengths?: string | null;
}

/** Writes the node, for operands of dtype `dtype`. */
export function writeAttention(
  o: LogicalTensor,
  dtype: GraphDType,
  names: AttentionNames,
  numbers: AttentionNumbers,
  write: OnnxWriter,
): void {
  const isSame = dtype === o.dtype;
  const result = attentionNode(names, numbers, write, isSame ? write.name(o) : undefined);
  if (!isSame) write.cast(result, dtype, o.dtype, write.name(o));
}

function attentionNode(
  { q, k, v, mask, pastK, pastV, lengths }: AttentionNames,
  { scale, softcap, left, right }: AttentionNumbers,
  write: OnnxWriter,
  output?: string,
): string {
  const attributes: Record<string, OnnxAttribute> = {
    ...(scale !== undefined && { scale: { float: scale } }),
    ...(softcap !== undefined && { softcap: { float: softcap } }),
    ...(right === 0 && { is_causal: { int: 1 } }),
    ...(left !== undefined && { left_window_size: { int: left } }),
    ...(right !== undefined && right > 0 && { right_window_size: { int: right } }),
    // The softmax is in f32, whatever the dtype of the operands.
    softmax_precision: { int: 1 },
  };
  const optional = [mask, pastK, pastV, lengths].map(name => name ?? '');
  while (optional.at(-1) === '') optional.pop();
  const inputs = [q, k, v, ...optional];
  if (!pastK || !pastV) return write.node('Attention', inputs, attributes, output);
  // A cache requires result names for the keys and values, which include the new ones.
  const result = output ?? `${pastK}_attended`;
  write.several('Attention', inputs, attributes, [result, `${pastK}_present`, `${pastV}_present`]);
  return result;
}

/** The product of probabilities and v, which may follow casts. */
function valueProduct(
  probabilities: number,
  { uses }: Topology,
): { readonly matmul: GraphNode; readonly nodes: readonly GraphNode[] } | null {
  const nodes: GraphNode[] = [];
  for (let at = probabilities; ; ) {
    const [use, ...more] = uses(at);
    if (!use || more.length > 0) return null;
    const { node, input } = use;
    nodes.push(node);
    if (node.kind === 'MatMul') {
      const fits = input === 0 && node.inputs.length === 2 && !flagOf(node.attributes, 'transpose_a');
      return fits ? { matmul: node, nodes } : null;
    }
    if (node.kind !== 'TypeCast' && node.kind !== 'Reorder') return null;
    at = node.outputs[0].id;
  }
}

/** Multiplies q by scalars that are not constants, because the scale of `Attention` is an attribute. */
function scaled(q: string, dtype: GraphDType, { factors }: ScoreForm, write: OnnxWriter): string {
  return factors.reduce((name, { tensor, inverse }) => {
    const factor = write.node('Reshape', [write.as(tensor, dtype), write.integers([])]);
    return write.node(inverse ? 'Div' : 'Mul', [name, factor]);
  }, q);
}
