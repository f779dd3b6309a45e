import { type OnnxOperator, result } from '../../node-call.ts';
import { type Windows, windowsOf } from './windows.ts';

const conv: OnnxOperator = call => {
  const [x, w] = [call.input(0), call.input(1)];
  const [B, channels, ...image] = x.shape;
  const [features, own, ...kernel] = w.shape;
  const groups = call.int('group', 1);
  if (channels !== own * groups || features % groups !== 0)
    call.fail(`cannot convolve [${x.shape}] with [${w.shape}] in ${groups} groups`);
  const windows = windowsOf(call, image, kernel);
  const each = (name: keyof Windows): number[] => windows.map(along => along[name]);
  return result({ type: x.type, shape: [B, features, ...each('count')] }, () => {
    const bias = call.optional(2);
    return call.draft.op('Convolution', [x.tensor(), w.tensor(), ...(bias ? [bias.tensor()] : [])], {
      ...{ strides: each('stride'), dilations: each('dilation'), groups },
      ...{ pads_begin: each('before'), pads_end: each('after') },
    });
  });
};

export const convolutionOperators: Readonly<Record<string, OnnxOperator>> = { Conv: conv };
