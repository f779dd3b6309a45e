import type { GraphNode } from '../../../../ir/node.ts';
import { flagOf } from '../../../../ir/schema/attribute.ts';
import type { GraphDType } from '../../../../ir/tensor/dtype.ts';
import { isKnown, type LogicalTensor } from '../../../../ir/tensor/logical-tensor.ts';
import type { Topology } from '../../../../ir/topology.ts';
import type { OnnxWriter } from '../writer.ts';

/** The extents of scores (B, Hk, Hq/Hk, Sq, Skv) or (B, Hq, Sq, Skv). */
export interface Heads {
  readonly rank: number;
  readonly Hk: number;
  /** The number of query heads per key head, if groups are a separate dimension; else 1. */
  readonly groups: number;
  readonly Sq: number;
  readonly Skv: number;
}

/** An operand of a product. */
export interface Operand {
  readonly tensor: LogicalTensor;
  /** Whether its last two dimensions are swapped. */
  readonly isColumns: boolean;
}

/** q, k and v, and their extents. */
export interface AttentionOperands {
  readonly q: Operand;
  readonly k: Operand;
  readonly v: Operand;
  readonly heads: Heads;
}

/** The operands of the two products; null if ONNX does not accept their heads and batches. */
export function attentionOperands(
  scores: GraphNode,
  values: GraphNode,
  { shapeOf }: Topology,
): AttentionOperands | null {
  const q = { tensor: scores.inputs[0], isColumns: flagOf(scores.attributes, 'transpose_a') };
  const k = { tensor: scores.inputs[1], isColumns: !flagOf(scores.attributes, 'transpose_b') };
  const v = { tensor: values.inputs[1], isColumns: flagOf(values.attributes, 'transpose_b') };
  const shapes = [q, k, v].map(({ tensor, isColumns }) => {
    const shape = shapeOf(tensor.id) ?? [];
    return isColumns ? [...shape.slice(0, -2), ...shape.slice(-2).reverse()] : shape;
  });
  const [shapeQ, shapeK, shapeV] = shapes;
  const rank = shapeQ.length;
  const isRight =
    (rank === 4 || rank === 5) && shapes.every(shape => shape.length === rank && isKnown(shape));
  if (!isRight) return null;
  const [lead, ...others] = shapes.map(shape => shape.slice(0, -2));
  const isShared = others.every(own =>
    rank === 5
      ? own[0] === lead[0] && own[1] === lead[1] && own[2] === 1
      : own[0] === lead[0] && (own[1] === lead[1] || own[1] === 1),
  );
  if (!isShared || shapeK[1] !== shapeV[1]) return null;
  const [Sq, Skv] = [shapeQ[rank - 2], shapeK[rank - 2]];
  return { q, k, v, heads: { rank, Hk: shapeK[1], groups: rank === 5 ? lead[2] : 1, Sq, Skv } };
}

/**
 * A shape (…, Hk, groups, X, Y) with its heads merged into one dimension; null if there are neither all heads
 * nor one.
 */
export function folded(shape: readonly number[], { rank, Hk, groups }: Heads): readonly number[] | null {
  if (rank === 4 || shape.length <= 2) return shape.length <= 4 ? shape : null;
  const [B, h, g, x, y] = [...new Array<number>(5 - shape.length).fill(1), ...shape];
  if (g === 1 && (h === 1 || groups === 1)) return [B, h, x, y];
  return h === Hk && g === groups ? [B, h * g, x, y] : null;
}

/** Writes an operand in the form that `Attention` takes: (B, H, S, D), in the dtype of the computation. */
export function writeOperand(
  { tensor, isColumns }: Operand,
  dtype: GraphDType,
  { rank }: Heads,
  write: OnnxWriter,
): string {
  const name = write.as(tensor, dtype);
  const [B, h, g, x, y] = write.shapeOf(tensor) ?? [];
  const whole = rank === 5 ? write.node('Reshape', [name, write.integers([B, h * g, x, y])]) : name;
  return isColumns ? write.node('Transpose', [whole], { perm: { ints: [0, 1, 3, 2] } }) : whole;
}
