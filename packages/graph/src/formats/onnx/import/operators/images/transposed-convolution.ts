import { type OnnxOperator, result } from '../../node-call.ts';
import { listOf } from './windows.ts';

/**
 * The transposed convolution of x (B, C, …) with filters (C, M / groups, …), plus a bias (M): the gradient of
 * a convolution with respect to its input. `auto_pad` and `output_shape` give the extents, and the pads then
 * follow: https://onnx.ai/onnx/operators/onnx__ConvTranspose.html.
 */
export const convTranspose: OnnxOperator = call => {
  const [x, w] = [call.input(0), call.input(1)];
  const [B = 1, channels = 1, ...image] = x.shape;
  const [features, own = 1, ...kernel] = w.shape;
  const groups = call.int('group', 1);
  const rank = image.length;
  if (rank < 1 || kernel.length !== rank || channels !== features || channels % groups !== 0)
    call.fail(`cannot convolve [${x.shape}] with [${w.shape}] in ${groups} groups`);
  const strides = listOf(call, 'strides', 1, rank);
  const dilations = listOf(call, 'dilations', 1, rank);
  const more = listOf(call, 'output_padding', 0, rank);
  const pads = listOf(call, 'pads', 0, 2 * rank);
  const auto = call.text('auto_pad', 'NOTSET');
  const isSame = auto === 'SAME_UPPER' || auto === 'SAME_LOWER';
  if (!isSame && auto !== 'NOTSET' && auto !== 'VALID')
    call.fail(`has auto_pad '${auto}', which is not supported`);
  // Some files list the batch and the channels too.
  const shape = call.ints('output_shape')?.slice(-rank);
  const sides = image.map((extent, d) => {
    const whole = strides[d] * (extent - 1) + dilations[d] * (kernel[d] - 1) + 1;
    const wanted = shape?.[d] ?? (isSame ? extent * strides[d] : null);
    const [before, after] = auto === 'NOTSET' ? [pads[d], pads[d + rank]] : [0, 0];
    const cut = wanted === null ? 0 : Math.max(0, whole + more[d] - wanted);
    const begin = wanted === null ? before : Math[auto === 'SAME_UPPER' ? 'floor' : 'ceil'](cut / 2);
    const size = wanted ?? whole + more[d] - before - after;
    // A convolution of more elements would have more windows than x has elements, so the rest are zeros.
    const covered = Math.min(size, whole + strides[d] - 1 - begin);
    // The convolution of the result must have x's extent; its last pads change nothing else.
    return { begin, end: Math.max(0, whole - begin - size), size, covered };
  });
  const sizes = sides.map(({ size }) => size);
  if (sizes.some(size => size < 1)) call.fail(`has a result of extents [${sizes}]`);
  const y = [B, own * groups, ...sizes];
  return result({ type: x.type, shape: y }, () => {
    const { draft } = call;
    const shape = [B, own * groups, ...sides.map(({ covered }) => covered)];
    const after = y.map((extent, d) => extent - shape[d]);
    const inner = draft.op('ConvolutionBackwardData', [x.tensor(), w.tensor()], {
      ...{ strides, dilations, groups, shape },
      ...{ pads_begin: sides.map(({ begin }) => begin), pads_end: sides.map(({ end }) => end) },
    });
    const sum = after.some(n => n > 0)
      ? draft.op('Pad', [inner], { before: after.map(() => 0), after })
      : inner;
    const bias = call.optional(2);
    return bias ? draft.op('Add', [sum, draft.channels(bias.tensor(), y.length)]) : sum;
  });
};
