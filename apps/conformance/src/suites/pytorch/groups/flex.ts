import {
  add,
  blockMaskBits,
  createBlockMask,
  ge,
  le,
  lt,
  maskMod,
  mul,
  neg,
  pow,
  scoreMod,
  sub,
} from '@tilewise/core/expr';
import type { GridPoint } from '../grid.ts';
import { dims, type Point, type PointDims } from '../point.ts';
import { batch, heads, type Sizes, sequenceLength } from '../sizes.ts';
import { biases } from './flex-biases.ts';
import { type MakeOptions, type Score, sameDocument, where } from './flex-options.ts';
import { variants } from './flex-variants.ts';
import type { GroupRunner, MakePoint } from './group.ts';
import { dtypeAt, numberAt, numbersAt, textAt } from './values.ts';

/** `flexTestConstants.scoreMods` of the file, in our expressions. */
const scores: Readonly<Record<string, Score>> = {
  identity: ({ score }) => score,
  times_two: ({ score }) => mul(score, 2),
  squared: ({ score }) => mul(score, score),
  causal: ({ score, q, kv }) => where(ge(q, kv), score),
  inverse_causal: ({ score, q, kv }) => where(le(q, kv), score),
  rel_bias: ({ score, q, kv }) => add(score, sub(q, kv)),
  rel_causal: ({ score, q, kv }) => where(ge(q, kv), add(score, sub(q, kv))),
  // Slopes for eight heads, whatever the number of heads.
  'alibi_bias(8)': ({ score, h, q, kv }) => add(score, mul(sub(kv, q), pow(2, neg(add(h, 1))))),
};

/** The inputs of a flex group: q, k and v are normal, and o and the gradients are judged. */
function flexPoint(
  values: GridPoint,
  sizes: Sizes,
  change: Partial<PointDims>,
  options: MakeOptions,
): Point | null {
  const dtype = values.dtype === undefined ? 'f32' : dtypeAt(values);
  if (!dtype) return null;
  const of = (name: string, otherwise: string): number =>
    numberAt(values, values[name] === undefined ? otherwise : name);
  const H = values.H === undefined ? 4 : numberAt(values, 'H');
  const [Hq, Hk] =
    values.Hq === undefined
      ? heads(H, H, sizes)
      : heads(numberAt(values, 'Hq'), numberAt(values, 'Hkv'), sizes);
  const D = values.D === undefined ? 64 : numberAt(values, 'D');
  const shape: PointDims = {
    ...dims(
      batch(values.B === undefined ? 2 : numberAt(values, 'B'), sizes),
      Hq,
      sequenceLength(of('Sq', 'S'), sizes),
      sequenceLength(of('Skv', 'S'), sizes),
      D,
    ),
    Hk,
    ...change,
  };
  return {
    dims: shape,
    ...{ dtype, inputs: 'normal', upstream: 'drawn', backward: true },
    options: stream => options(stream, shape, dtype),
  };
}

const scoreMods: MakePoint = (values, sizes) =>
  flexPoint(values, sizes, {}, () => ({ scoreMod: scoreMod(named(values)) }));

const strided: MakePoint = (values, sizes) => {
  const point = scoreMods(values, sizes);
  return point && { ...point, layout: 'strided' };
};

/** The blocks of a mask that hides nothing, found with the point's block size. */
const blockSizes: MakePoint = (values, sizes) =>
  flexPoint(values, sizes, {}, (_, { Sq, Skv }) => {
    const { blockSize } = values;
    const size = Array.isArray(blockSize) ? numbersAt(values, 'blockSize') : [0, 0].fill(Number(blockSize));
    const blocks = createBlockMask(
      maskMod(() => true),
      { Sq, Skv, blockSize: [size[0], size[1]] },
    );
    return { scoreMod: scoreMod(named(values)), blockMask: blockMaskBits(blocks) };
  });

function named(values: GridPoint): Score {
  const name = values.scoreMod === undefined ? 'identity' : textAt(values, 'scoreMod');
  const score = scores[name];
  if (!score) throw new Error(`the score mod ${name} is not known to the runner`);
  return score;
}

const otherHeadSizes: MakePoint = (values, sizes) => {
  const [D, Dv] = numbersAt(values, 'DqkDv');
  return flexPoint(values, sizes, { D, Dv }, () => ({}));
};

const miscellaneous: MakePoint = (values, sizes) => {
  const variant = textAt(values, 'variant');
  const options = variants[variant];
  if (!options) throw new Error(`the variant ${variant} is not known to the runner`);
  return flexPoint(values, sizes, {}, options);
};

const deadHalf: MakePoint = (values, sizes) =>
  flexPoint(values, sizes, {}, (_, { Sq }) => ({ maskMod: maskMod(({ q }) => lt(q, Math.floor(Sq / 2))) }));

const notDivisible: MakePoint = (values, sizes) =>
  flexPoint(values, sizes, {}, (_, { Skv }) =>
    textAt(values, 'mask') === 'causal'
      ? { maskMod: maskMod(({ q, kv }) => ge(q, kv)) }
      : { maskMod: sameDocument(Skv) },
  );

const learnableBias: MakePoint = (values, sizes) => {
  const words = textAt(values, 'bias');
  const options = biases[words];
  if (!options) throw new Error(`the bias ${words} is not known to the runner`);
  return flexPoint(values, sizes, {}, options);
};

/** The groups of PyTorch's `test_flex_attention.py`. */
export const flexGroups: Readonly<Record<string, GroupRunner>> = {
  'flex.builtin_score_mods': { make: scoreMods },
  'flex.different_seqlen': { make: scoreMods },
  'flex.block_sizes': { make: blockSizes },
  'flex.kv_batch_broadcast': {
    unsupported:
      'k and v have the batch size of q; a caller expands them, and sums their gradients over the batch',
  },
  'flex.gqa': { make: scoreMods },
  'flex.non_equal_head_dims': { make: otherHeadSizes },
  'flex.non_pow2_headdim': { make: scoreMods },
  'flex.strided': { make: strided },
  'flex.mods_masks': { make: miscellaneous },
  'flex.fully_masked_rows': { make: deadHalf },
  'flex.lse': { make: scoreMods },
  'flex.lse_merge': { unsupported: 'it merges results, which the tests of mergePartials do' },
  'flex.non_divisible': { make: notDivisible },
  'flex.learnable_bias': { make: learnableBias },
  'flex.block_mask': { unsupported: 'its expectations are in the file of block masks' },
};
