import type { NodeCall } from '../../node-call.ts';

/** The windows of a convolution or of pooling along a dimension of an image. */
export interface Windows {
  readonly stride: number;
  readonly dilation: number;
  /** The pads before and after the dimension. */
  readonly before: number;
  readonly after: number;
  readonly count: number;
}

/** An attribute with `length` numbers; `standard`, as often, if the node does not have it. */
export function listOf(call: NodeCall, name: string, standard: number, length: number): readonly number[] {
  const list = call.ints(name) ?? Array.from({ length }, () => standard);
  return list.length === length
    ? list
    : call.fail(`attribute '${name}' must have ${length} numbers, got ${list.length}`);
}

/** The windows along each dimension of an image. Pads are given, or computed from `auto_pad`. */
export function windowsOf(
  call: NodeCall,
  image: readonly number[],
  kernel: readonly number[],
): readonly Windows[] {
  const auto = call.text('auto_pad', 'NOTSET');
  const isCeil = call.flag('ceil_mode', false);
  const rank = image.length;
  const [strides, dilations, pads] = [
    listOf(call, 'strides', 1, rank),
    listOf(call, 'dilations', 1, rank),
    listOf(call, 'pads', 0, 2 * rank),
  ];
  const windows = image.map((extent, d) => {
    const [stride, dilation] = [strides[d], dilations[d]];
    const span = dilation * (kernel[d] - 1) + 1;
    let [before, after] = [0, 0];
    if (auto === 'NOTSET') [before, after] = [pads[d], pads[d + rank]];
    else if (auto === 'SAME_UPPER' || auto === 'SAME_LOWER') {
      const total = Math.max(0, (Math.ceil(extent / stride) - 1) * stride + span - extent);
      before = Math[auto === 'SAME_UPPER' ? 'floor' : 'ceil'](total / 2);
      after = total - before;
    } else if (auto !== 'VALID') call.fail(`has auto_pad '${auto}', which is not supported`);
    const last = Math[isCeil ? 'ceil' : 'floor']((extent + before + after - span) / stride);
    // With ceil_mode, the last window may end after the pads, but not start after the image.
    const count = last + Number(!isCeil || last * stride < extent + before);
    return { stride, dilation, before, after, count };
  });
  const areValid = windows.every(
    ({ stride, dilation, count }) => stride > 0 && dilation > 0 && count > 0 && Number.isFinite(count),
  );
  if (rank === 0 || kernel.length !== rank || kernel.some(n => n < 1) || !areValid)
    call.fail(`cannot slide a window of [${kernel}] over [${image}]`);
  return windows;
}
