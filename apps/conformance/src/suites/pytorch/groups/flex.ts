import { type DType, type SdpaOptions, Tensor } from '@tilewise/core';
import {
  abs,
  add,
  and,
  blockMaskBits,
  constant,
  cos,
  createBlockMask,
  div,
  eq,
  exp,
  floorDiv,
  ge,
  le,
  load,
  lt,
  type Mod,
  maskMod,
  max,
  min,
  mod,
  mul,
  type NumericExpr,
  neg,
  or,
  pow,
  type ScoredPlace,
  scoreMod,
  select,
  sin,
  sub,
} from '@tilewise/core/expr';
import type { PhiloxStream } from '@tilewise/philox';
import type { GridPoint } from '../grid.ts';
import { dims, type Point, type PointDims } from '../point.ts';
import { batch, heads, type Sizes, sequenceLength } from '../sizes.ts';
import type { GroupRunner, MakePoint } from './group.ts';
import { normalTensor } from './torch.ts';
import { dtypeAt, numberAt, numbersAt, textAt } from './values.ts';

type Score = (place: ScoredPlace) => NumericExpr | number;

const hidden = constant(-Infinity, 'f32');
const where = (condition: Parameters<typeof select>[0], score: NumericExpr): NumericExpr =>
  select(condition, score, hidden);

/** `flexTestConstants.scoreMods` of the file, in our expressions. */
const scores: Readonly<Record<string, Score>> = {
  identity: ({ score }) => score,
  times_two: ({ score }) => mul(score, 2),
  squared: ({ score }) => mul(score, score),
  causal: ({ score, q, kv }) => where(ge(q, kv), score),
  inverse_causal: ({ score, q, kv }) => where(le(q, kv), score),
  rel_bias: ({ score, q, kv }) => add(score, sub(q, kv)),
  rel_causal: ({ score, q, kv }) => where(ge(q, kv), add(score, sub(q, kv))),
  // Slopes for eight heads, however many there are.
  'alibi_bias(8)': ({ score, h, q, kv }) => add(score, mul(sub(kv, q), pow(2, neg(add(h, 1))))),
};

type MakeOptions = (stream: PhiloxStream, shape: PointDims, dtype: DType) => SdpaOptions<Tensor>;

/** How q, k and v of a flex group are: normal, and judged in o and the gradients. */
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
  const [Hq, Hk] =
    values.Hq === undefined
      ? heads(
          values.H === undefined ? 4 : numberAt(values, 'H'),
          values.H === undefined ? 4 : numberAt(values, 'H'),
          sizes,
        )
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

/** The blocks of a mask that shows everything, found in blocks of the size of the point. */
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

const sameDocument = (S: number): Mod<Tensor> => {
  const ids = Array.from({ length: S }, (_, i) => Math.floor(i / 32));
  const at = (i: NumericExpr) => load('documents', [i], 'i32');
  return maskMod<Tensor>(({ q, kv }) => eq(at(q), at(kv)), {
    documents: Tensor.from(ids, [S], { dtype: 'i32' }),
  });
};

/** A score to which a random tensor is added, read at some of the indices of the pair. */
const added =
  (
    shapeOf: (shape: PointDims) => readonly number[],
    index: (place: ScoredPlace, shape: PointDims) => NumericExpr[],
  ): MakeOptions =>
  (stream, shape, dtype) => ({
    scoreMod: scoreMod<Tensor>(place => add(place.score, load('bias', index(place, shape))), {
      bias: normalTensor(stream, shapeOf(shape), dtype),
    }),
  });

const score =
  (build: Score): MakeOptions =>
  () => ({ scoreMod: scoreMod(build) });

/** The variants of `TestFlexAttention misc`, by their words in the file. */
const variants: Readonly<Record<string, MakeOptions>> = {
  'doc_mask_causal(256)': (_, { Skv }) => ({ maskMod: sameDocument(Skv), causal: true }),
  'index bias[b,q]': added(
    ({ B, Sq }) => [B, Sq],
    ({ b, q }) => [b, q],
  ),
  'bias[b,h,q]': added(
    ({ B, Hq, Sq }) => [B, Hq, Sq],
    ({ b, h, q }) => [b, h, q],
  ),
  skip_odd_keys: () => ({ maskMod: maskMod(({ kv }) => eq(mod(kv, 2), 0)) }),
  'rel_bias then inverse_causal composition': score(({ score, q, kv }) =>
    where(le(q, kv), add(score, sub(q, kv))),
  ),
  'bias over b,h,q tokens': (stream, { B, Hq, Sq, Skv }, dtype) => ({
    scoreMod: scoreMod<Tensor>(
      ({ score, b, h, q, kv }) =>
        add(
          score,
          add(add(load('ofBatch', [b]), load('ofHead', [h])), add(load('ofQuery', [q]), load('ofKey', [kv]))),
        ),
      {
        ofBatch: normalTensor(stream, [B], dtype),
        ofHead: normalTensor(stream, [Hq], dtype),
        ofQuery: normalTensor(stream, [Sq], dtype),
        ofKey: normalTensor(stream, [Skv], dtype),
      },
    ),
  }),
  'seq_idx equality': (_, { Skv }) => ({ maskMod: sameDocument(Skv) }),
  'bias[q,kv]': added(
    ({ Sq, Skv }) => [Sq, Skv],
    ({ q, kv }) => [q, kv],
  ),
  'bias[b,q,kv]': added(
    ({ B, Sq, Skv }) => [B, Sq, Skv],
    ({ b, q, kv }) => [b, q, kv],
  ),
  'bias[b,h,q,kv]': added(
    ({ B, Hq, Sq, Skv }) => [B, Hq, Sq, Skv],
    ({ b, h, q, kv }) => [b, h, q, kv],
  ),
  'rel_bias[(q-kv)+S]': added(
    ({ Skv }) => [2 * Skv],
    ({ q, kv }, { Skv }) => [add(sub(q, kv), Skv)],
  ),
  'causal OR both<=num_bidir[b]': (_, { B, Sq }) => ({
    maskMod: maskMod<Tensor>(
      ({ b, q, kv }) => {
        const bidirectional = load('bidirectional', [b], 'i32');
        return or(ge(q, kv), and(le(q, bidirectional), le(kv, bidirectional)));
      },
      {
        bidirectional: Tensor.from(
          Array.from({ length: B }, (_, b) => Math.floor(Sq / (b + 2))),
          [B],
          { dtype: 'i32' },
        ),
      },
    ),
  }),
  'natten_2d window 3': () => ({
    maskMod: maskMod(({ q, kv }) =>
      and(le(abs(sub(floorDiv(q, 16), floorDiv(kv, 16))), 1), le(abs(sub(mod(q, 16), mod(kv, 16))), 1)),
    ),
  }),
  'silu(score)': score(({ score }) => div(score, add(1, exp(neg(score))))),
  'padded dense': (_, { B, Sq, Skv }) => ({
    seqLensQ: Array.from({ length: B }, (_, b) => Sq - 7 * b),
    seqLensKv: Array.from({ length: B }, (_, b) => Skv - 11 * b),
  }),
  'njt offsets [0,1024,1536,2048]': (_, { Skv }) => {
    // Three sequences in one, of a half and two quarters.
    const ids = Array.from({ length: Skv }, (_, i) => (2 * i < Skv ? 0 : 4 * i < 3 * Skv ? 1 : 2));
    const at = (i: NumericExpr) => load('sequences', [i], 'i32');
    return {
      maskMod: maskMod<Tensor>(({ q, kv }) => and(eq(at(q), at(kv)), ge(q, kv)), {
        sequences: Tensor.from(ids, [Skv], { dtype: 'i32' }),
      }),
    };
  },
  'sin(cos(s))': score(({ score }) => sin(cos(score))),
  'cos*sin': score(({ score }) => mul(cos(score), sin(score))),
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

/** The learnable biases, by their words. */
const biases: Readonly<Record<string, MakeOptions>> = {
  'rel_1d bias[|q-kv|]': added(
    ({ Skv }) => [Skv],
    ({ q, kv }) => [abs(sub(q, kv))],
  ),
  'abs_2d bias[q,kv]': added(
    ({ Sq, Skv }) => [Sq, Skv],
    ({ q, kv }) => [q, kv],
  ),
  'head bias[h,q,kv]': added(
    ({ Hq, Sq, Skv }) => [Hq, Sq, Skv],
    ({ h, q, kv }) => [h, q, kv],
  ),
  'batch_head bias[b,h,q,kv]': added(
    ({ B, Hq, Sq, Skv }) => [B, Hq, Sq, Skv],
    ({ b, h, q, kv }) => [b, h, q, kv],
  ),
  'multiplicative score*bias[q]': (stream, { Sq }, dtype) => ({
    scoreMod: scoreMod<Tensor>(({ score, q }) => mul(score, load('bias', [q])), {
      bias: normalTensor(stream, [Sq], dtype),
    }),
  }),
  'local_window bias[clamp(q-kv+8,0,16)]': added(
    () => [17],
    ({ q, kv }) => [max(0, min(add(sub(q, kv), 8), 16))],
  ),
  'global bias[kv]': added(
    ({ Skv }) => [Skv],
    ({ kv }) => [kv],
  ),
  'weird bias[b,h,0,q]': added(
    ({ B, Hq, Sq }) => [B, Hq, 1, Sq],
    ({ b, h, q }) => [b, h, constant(0, 'i32'), q],
  ),
  'indirect bias[offset[q]]': (stream, { Sq }, dtype) => ({
    scoreMod: scoreMod<Tensor>(({ score, q }) => add(score, load('bias', [load('places', [q], 'i32')])), {
      bias: normalTensor(stream, [Sq], dtype),
      places: Tensor.from(
        Array.from({ length: Sq }, (_, i) => (7 * i + 3) % Sq),
        [Sq],
        { dtype: 'i32' },
      ),
    }),
  }),
  'flipped bias[kv,q]': added(
    ({ Sq, Skv }) => [Skv, Sq],
    ({ q, kv }) => [kv, q],
  ),
  'gate score*sigmoid(g[h])': (stream, { Hq }, dtype) => ({
    scoreMod: scoreMod<Tensor>(({ score, h }) => div(score, add(1, exp(neg(load('gate', [h]))))), {
      gate: normalTensor(stream, [Hq], dtype),
    }),
  }),
  'distinct bias1[q]+bias2[kv]': (stream, { Sq, Skv }, dtype) => ({
    scoreMod: scoreMod<Tensor>(
      ({ score, q, kv }) => add(score, add(load('ofQuery', [q]), load('ofKey', [kv]))),
      {
        ofQuery: normalTensor(stream, [Sq], dtype),
        ofKey: normalTensor(stream, [Skv], dtype),
      },
    ),
  }),
  'rel_1d only bias grad': added(
    ({ Skv }) => [Skv],
    ({ q, kv }) => [abs(sub(q, kv))],
  ),
};

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
