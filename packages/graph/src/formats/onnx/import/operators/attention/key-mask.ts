import type { LogicalTensor } from '../../../../../ir/tensor/logical-tensor.ts';
import { shapeOf } from '../../../../../ir/tensor/shape.ts';
import type { NodeCall } from '../../node-call.ts';
import type { AttentionRequest } from './attention.ts';

/** The inputs of a node that say which keys are visible, and a bias of the scores. */
interface MaskInputs {
  readonly mask: number;
  readonly bias: number;
}

/** The sizes of the scores. */
interface Sizes {
  readonly B: number;
  readonly Sq: number;
  readonly Skv: number;
}

/**
 * The mask and the bias of com.microsoft's attention. The mask is the number of visible keys (B), or has a
 * number for each key (B, Skv) or each score (B, Sq, Skv). Where the number is 0, 'mask_filter_value' is
 * added to the score, which gives weights even to a query whose keys are all hidden.
 */
export function keyMask(
  call: NodeCall,
  at: MaskInputs,
  { B, Sq, Skv }: Sizes,
): Pick<AttentionRequest, 'mask' | 'seqLensKv'> {
  const { draft } = call;
  const mask = call.optional(at.mask);
  const bias = call.optional(at.bias)?.tensor();
  if (!mask) return { mask: bias };
  const shape = `${mask.shape}`;
  if (shape === `${B}`) return { mask: bias, seqLensKv: mask.tensor() };
  const rows = shape === `${[B, Skv]}` ? 1 : shape === `${[B, Sq, Skv]}` ? Sq : null;
  if (rows === null)
    return call.refuse(
      `has a key mask of shape [${mask.shape}]; [${B}], [${B},${Skv}] and [${B},${Sq},${Skv}] are supported`,
    );
  const seen = draft.reshape(draft.cast(mask.tensor(), 'bool'), [B, 1, rows, Skv]);
  const filter = draft.inline([call.float('mask_filter_value', -10000)], shapeOf(seen), 'f32');
  const added = draft.select(seen, draft.inline([0], shapeOf(seen), 'f32'), filter);
  return { mask: bias ? sum(call, bias, added) : added };
}

/** The sum of biases, in f32. */
function sum({ draft }: NodeCall, a: LogicalTensor, b: LogicalTensor): LogicalTensor {
  return draft.op('Add', [draft.cast(a, 'f32'), b]);
}
