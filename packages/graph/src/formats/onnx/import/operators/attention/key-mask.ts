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
 * The mask and the bias of com.microsoft's attention. The mask is the number of visible keys (B), or the ends
 * and then the starts of the visible keys (2·B), or has a number for each key (B, Skv) or each score (B, Sq,
 * Skv). Where the number is 0, 'mask_filter_value' is added to the score, which gives weights even to a query
 * whose keys are all hidden.
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
  const isRange = shape === `${2 * B}`;
  const rows = isRange || shape === `${[B, Skv]}` ? 1 : shape === `${[B, Sq, Skv]}` ? Sq : null;
  if (rows === null)
    call.refuse(`has a key mask of shape [${mask.shape}], which does not fit scores [${[B, Sq, Skv]}]`);
  /** Whether each key is before the end, or the start, of its sequence. */
  const before = (start: number): LogicalTensor => {
    const bounds = draft.slice(mask.tensor(), { axis: 0, start, size: B });
    const places = draft.inline([...new Array(Skv).keys()], [Skv], 'i32');
    return draft.test('Less', places, draft.reshape(bounds, [B, 1]));
  };
  const own = isRange ? draft.test('Greater', before(0), before(B)) : draft.cast(mask.tensor(), 'bool');
  const seen = draft.reshape(own, [B, 1, rows, Skv]);
  const filter = draft.inline([call.float('mask_filter_value', -10000)], shapeOf(seen), 'f32');
  const added = draft.select(seen, draft.inline([0], shapeOf(seen), 'f32'), filter);
  return { mask: bias ? draft.op('Add', [draft.cast(bias, 'f32'), added]) : added };
}
