import { type SdpaOptions, Tensor } from '@tilewise/core';
import {
  and,
  eq,
  floorDiv,
  ge,
  le,
  load,
  lt,
  maskMod,
  mod,
  type NumericExpr,
  or,
  sub,
} from '@tilewise/core/expr';
import type { GridPoint } from '../grid.ts';
import { dims, type PointDims } from '../point.ts';
import { batch, heads, type Sizes, sequenceLength } from '../sizes.ts';
import type { GroupRunner, MakePoint } from './group.ts';
import { dropoutAt, dtypeAt, numberAt, numbersAt, scaleAt, textAt } from './values.ts';

const groupSizes: readonly { readonly says: RegExp; readonly Hk: (H: number) => number }[] = [
  { says: /^mha$/, Hk: H => H },
  { says: /^mqa/, Hk: () => 1 },
  { says: /^gqa/, Hk: () => 2 },
];

function headsAt(values: GridPoint, axis: string, sizes: Sizes): readonly [number, number] {
  const H = numberAt(values, 'H');
  const kind = groupSizes.find(({ says }) => says.test(textAt(values, axis)));
  if (!kind) throw new Error(`the heads ${values[axis]} are not known to the runner`);
  return heads(H, kind.Hk(H), sizes);
}

/**
 * FlashAttention's calls: bottom-right causal masks and windows, soft caps, ALiBi with slopes in [0, 0.3).
 */
const flashAttention: MakePoint = (values, sizes) => {
  const dtype = dtypeAt(values);
  if (!dtype) return null;
  const [sq, skv] = numbersAt(values, 'SqSkv');
  const [Sq, Skv] = [sequenceLength(sq, sizes), sequenceLength(skv, sizes)];
  const [Hq, Hk] = headsAt(values, 'mha', sizes);
  const softcap = numberAt(values, 'softcap');
  if (softcap > 0 && values.dropoutP !== undefined && numberAt(values, 'dropoutP') > 0) return null;
  const D = values.D === 'compiled head dims' ? 64 : numberAt(values, 'D');
  const chosen = (name: string): boolean => values[name] !== undefined && values[name] !== false;
  return {
    dims: { ...dims(batch(numberAt(values, 'B'), sizes), Hq, Sq, Skv, D), Hk },
    ...{ dtype, inputs: 'normal', upstream: 'drawn', backward: true },
    repeat: chosen('deterministic'),
    options: (stream): SdpaOptions<Tensor> => {
      const bound = (): number => stream.nextU32() % Skv;
      const window = chosen('local') && {
        window: { left: bound(), right: bound(), align: 'bottom-right' as const },
      };
      return {
        ...(chosen('causal') && { causal: 'bottom-right' }),
        ...window,
        ...(softcap > 0 && { softcap }),
        ...(chosen('alibi') && {
          alibi: Array.from({ length: Hq }, () => (stream.nextU32() / 2 ** 32) * 0.3),
          // Slopes count distances from the diagonal of the band.
          ...(!window && { window: { align: 'bottom-right' as const } }),
        }),
        ...(values.dropoutP !== undefined && dropoutAt(values)),
      };
    },
  };
};

/** Windows of packed sequences: −1 is unbounded, and the diagonal ends at the last query and key of each. */
const varlen: MakePoint = (values, sizes) => {
  const dtype = dtypeAt(values);
  if (!dtype) return null;
  const S = sequenceLength(numberAt(values, 'maxSeq'), sizes);
  const [h, hk] = numbersAt(values, 'heads');
  const [Hq, Hk] = heads(h, hk, sizes);
  const [left, right] = numbersAt(values, 'window');
  const shape = dims(batch(numberAt(values, 'B'), sizes), Hq, S, S, numberAt(values, 'D'));
  return {
    dims: { ...shape, Hk },
    ...{ dtype, inputs: 'normal', upstream: 'drawn', backward: true },
    options: stream => {
      const lengths = Array.from({ length: shape.B }, () => 1 + (stream.nextU32() % S));
      return {
        ...scaleAt(values, shape.D),
        ...{ seqLensQ: lengths, seqLensKv: lengths },
        ...windowOf(left, right),
      };
    },
  };
};

/** Sequences of several lengths; the first must give the same bits when it runs alone. */
const batchInvariance: MakePoint = (values, sizes) => {
  const lengths = numbersAt(values, 'seq').map(n => sequenceLength(n, sizes));
  const S = lengths.reduce((longest, n) => Math.max(longest, n), 0);
  const H = numberAt(values, 'H');
  const [left, right] = numbersAt(values, 'window');
  return {
    dims: dims(lengths.length, H, S, S, numberAt(values, 'D')),
    ...{ dtype: dtypeAt(values) ?? 'f16', inputs: 'normal', upstream: 'drawn', backward: false, alone: true },
    options: () => ({ ...{ seqLensQ: lengths, seqLensKv: lengths }, ...windowOf(left, right) }),
  };
};

function windowOf(left: number, right: number): Pick<SdpaOptions<Tensor>, 'window'> {
  return { window: { ...(left >= 0 && { left }), ...(right >= 0 && { right }), align: 'bottom-right' } };
}

/** One query against a cache of which only the first keys are used. */
const cache: MakePoint = (values, sizes) => {
  const lengths = numbersAt(values, 'kvLens').slice(0, batch(numberAt(values, 'B'), sizes));
  const [H] = heads(numberAt(values, 'H'), numberAt(values, 'H'), sizes);
  return {
    dims: dims(lengths.length, H, numberAt(values, 'Sq'), numberAt(values, 'cache'), numberAt(values, 'D')),
    ...{ dtype: 'f16', inputs: 'normal', upstream: 'drawn', backward: false },
    unusedKeys: lengths,
    options: () => ({ seqLensKv: lengths }),
  };
};

type Mask = (shape: PointDims) => SdpaOptions<Tensor>;

/** The masks of FlashAttention 4's tests. */
const masks: Readonly<Record<string, Mask>> = {
  causal: () => ({ maskMod: maskMod(({ q, kv }) => le(kv, q)) }),
  block_causal: () => ({ maskMod: maskMod(({ q, kv }) => le(floorDiv(kv, 64), floorDiv(q, 64))) }),
  sliding_window: () => ({ maskMod: maskMod(({ q, kv }) => and(le(kv, q), lt(sub(q, kv), 64))) }),
  block_diagonal: () => ({ maskMod: maskMod(({ q, kv }) => eq(floorDiv(kv, 64), floorDiv(q, 64))) }),
  mini_causal: () => ({ maskMod: maskMod(({ q, kv }) => le(mod(kv, 128), mod(q, 128))) }),
  prefix_lm: () => ({ maskMod: maskMod(({ q, kv }) => or(lt(kv, 48), le(kv, q))) }),
  dilated_sliding_window: () => ({
    maskMod: maskMod(({ q, kv }) => and(le(kv, q), lt(sub(q, kv), 96), eq(mod(sub(q, kv), 3), 0))),
  }),
  document: ({ Skv }) => byDocument(Skv, i => Math.floor(i / 48)),
  'ima (data dependent)': ({ Skv }) => byThreshold(Skv),
};

function byDocument(S: number, idOf: (i: number) => number): SdpaOptions<Tensor> {
  const ids = Tensor.from(
    Array.from({ length: S }, (_, i) => idOf(i)),
    [S],
    { dtype: 'i32' },
  );
  const at = (i: NumericExpr) => load('documents', [i], 'i32');
  return { maskMod: maskMod<Tensor>(({ q, kv }) => eq(at(q), at(kv)), { documents: ids }) };
}

/** Keys start at a position that the data give. */
function byThreshold(S: number): SdpaOptions<Tensor> {
  const from = Tensor.from(
    Array.from({ length: S }, (_, i) => (i * 5) % 60),
    [S],
    { dtype: 'i32' },
  );
  return { maskMod: maskMod<Tensor>(({ q, kv }) => ge(kv, load('from', [q], 'i32')), { from }) };
}

const maskMods: MakePoint = (values, sizes) => {
  const [Sq, Skv] = numbersAt(values, 'qBoundary').map(n => sequenceLength(n, sizes));
  const [Hq, Hk] = headsAt(values, 'kv', sizes);
  const name = textAt(values, 'masks');
  const options = masks[name];
  if (!options) throw new Error(`the mask ${name} is not known to the runner`);
  const shape = { ...dims(2, Hq, Sq, Skv, numberAt(values, 'D')), Hk };
  return {
    dims: shape,
    ...{ dtype: 'bf16', inputs: 'normal', upstream: 'drawn', backward: true },
    options: () => options(shape),
  };
};

/** The groups of FlashAttention's tests, and of PyTorch's variable lengths that follow them. */
export const flashAttentionGroups: Readonly<Record<string, GroupRunner>> = {
  'torch.varlen_vs_sdpa': { make: varlen },
  'torch.varlen_batch_invariance': { make: batchInvariance },
  'torch.varlen_seqused_nan': { make: cache },
  'fa2.output': { make: flashAttention },
  'fa3.output': { make: flashAttention },
  'fa4.mask_mods': { make: maskMods },
};
