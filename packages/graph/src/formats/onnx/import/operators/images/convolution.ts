import type { LogicalTensor } from '../../../../../ir/tensor/logical-tensor.ts';
import { type ElementType, int32Type } from '../../file/element-type.ts';
import { type NodeCall, type NodeResult, type OnnxOperator, result } from '../../node-call.ts';
import { centred } from '../quantized/integer-products.ts';
import { requantized } from '../quantized/quantized-products.ts';
import { convTranspose } from './transposed-convolution.ts';
import { type Windows, windowsOf } from './windows.ts';

/** A convolution of input 0 with the filters in input 1, of which `operands` gives the tensors and a bias. */
function convolved(
  call: NodeCall,
  type: ElementType,
  operands: () => readonly LogicalTensor[],
): NodeResult & { readonly emit: () => LogicalTensor } {
  const [x, w] = [call.input(0), call.input(1)];
  const [B, channels, ...image] = x.shape;
  const [features, own, ...kernel] = w.shape;
  const groups = call.int('group', 1);
  if (channels !== own * groups || features % groups !== 0)
    call.fail(`cannot convolve [${x.shape}] with [${w.shape}] in ${groups} groups`);
  const windows = windowsOf(call, image, kernel);
  const each = (name: keyof Windows): number[] => windows.map(along => along[name]);
  const emit = (): LogicalTensor =>
    call.draft.op('Convolution', operands(), {
      ...{ strides: each('stride'), dilations: each('dilation'), groups },
      ...{ pads_begin: each('before'), pads_end: each('after') },
    });
  return { type, shape: [B, features, ...each('count')], emit };
}

const conv: OnnxOperator = call =>
  convolved(call, call.input(0).type, () => [0, 1, 2].flatMap(n => call.optional(n)?.tensor() ?? []));

/** A convolution of bytes, each minus its zero point. Pads are zero points. Sums are exact up to 2^24. */
const convInteger: OnnxOperator = call => {
  const rank = call.shape(1).length;
  const { type, shape, emit } = convolved(call, int32Type, () => [
    centred(call, 0, 2, 0),
    centred(call, 1, 3, rank - 1),
  ]);
  return result({ type, shape }, () => call.draft.cast(emit(), 'i32'));
};

/** A convolution of quantised images. A list of scales has one for each filter. */
const qLinearConv: OnnxOperator = call =>
  requantized(call, convInteger, list => call.draft.channels(list, call.shape(0).length));

/** Convolutions. */
export const convolutionOperators: Readonly<Record<string, OnnxOperator>> = {
  Conv: conv,
  ConvInteger: convInteger,
  ConvTranspose: convTranspose,
  QLinearConv: qLinearConv,
};
