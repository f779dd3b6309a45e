import { numberOf, numbersOf } from '../../../../ir/schema/attribute.ts';
import type { LogicalTensor } from '../../../../ir/tensor/logical-tensor.ts';
import type { Topology } from '../../../../ir/topology.ts';
import { indexOperations, type Link } from '../../../../passes/attention/score-chain.ts';
import type { Masks } from './mask.ts';

/** The numeric attributes of `Attention`. */
export interface AttentionNumbers {
  /** The factor of q·kᵀ. Default: 1/√D. */
  readonly scale?: number | undefined;
  readonly softcap?: number | undefined;
  /** The numbers of keys before and after the diagonal key that a query sees. Default: all. */
  readonly left?: number | undefined;
  readonly right?: number | undefined;
}

/** The attributes and masks of `Attention`. */
export interface ScoreForm extends AttentionNumbers {
  readonly scale: number;
  /** Scalar factors (or divisors) of the scores that are not constants. */
  readonly factors: readonly { readonly tensor: LogicalTensor; readonly inverse: boolean }[];
  readonly masks: Masks;
}

/** A chain as the attributes and masks of `Attention`; null if the chain has another meaning or order. */
export function scoreForm(links: readonly Link[], rank: number, topology: Topology): ScoreForm | null {
  let scale = 1;
  let softcap: number | undefined;
  let capped = false;
  let causal = false;
  const isMasked = (): boolean => causal || Object.keys(masks).length > 0;
  const factors: { tensor: LogicalTensor; inverse: boolean }[] = [];
  let masks: Masks = {};
  for (const { node, score: at } of links) {
    const other = node.inputs[1 - at];
    const inverse = node.kind === 'Divide';
    switch (node.kind) {
      case 'TypeCast':
        break;
      case 'Multiply':
      case 'Divide': {
        const value = constantOf(other, topology);
        if (isMasked() || (inverse && at !== 0)) return null;
        if (capped) {
          if (softcap !== undefined || value === null) return null;
          softcap = inverse ? 1 / value : value;
        } else if (value !== null) scale *= inverse ? 1 / value : value;
        else if (isScalar(other, topology)) factors.push({ tensor: other, inverse });
        else return null;
        break;
      }
      case 'Tanh':
        if (capped || isMasked()) return null;
        capped = true;
        break;
      case 'Add':
        if (indexOperations(other.id, topology).length > 0) return null;
        if (masks.added) return null;
        masks = { ...masks, added: other };
        break;
      case 'Select': {
        const condition = node.inputs[0];
        if (at !== 1 || constantOf(node.inputs[2], topology) !== -Infinity) return null;
        if (indexOperations(condition.id, topology).length === 0) {
          if (masks.selected) return null;
          masks = { ...masks, selected: condition };
        } else if (isCausal(condition, rank, topology)) causal = true;
        else return null;
        break;
      }
      default:
        return null;
    }
  }
  // Attention takes only a positive scale.
  if (!(scale > 0) || (capped && !(softcap !== undefined && softcap > 0))) return null;
  // c·tanh(s·x) caps scores at c that are scaled by s·c.
  return { scale: scale * (softcap ?? 1), factors, masks, softcap, right: causal ? 0 : undefined };
}

function isScalar({ id }: LogicalTensor, { shapeOf }: Topology): boolean {
  const shape = shapeOf(id);
  return shape?.every(n => n === 1) ?? false;
}

/** The number of a constant; null for any other tensor. */
function constantOf({ id }: LogicalTensor, { producers }: Topology): number | null {
  const node = producers.get(id);
  const values = node?.kind === 'Constant' ? numbersOf(node.attributes, 'value') : [];
  return values.length === 1 ? values[0] : null;
}

/** Whether a condition is that the query's index is at least the key's. */
function isCausal({ id }: LogicalTensor, rank: number, { producers }: Topology): boolean {
  const compare = producers.get(id);
  if (compare?.kind !== 'GreaterEqual') return false;
  const axes = compare.inputs.map(t => {
    const node = producers.get(t.id);
    const axis = node?.kind === 'GenIndex' ? numberOf(node.attributes, 'axis') : NaN;
    return axis < 0 ? axis + rank : axis;
  });
  return axes[0] === rank - 2 && axes[1] === rank - 1;
}
