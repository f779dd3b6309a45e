import type { BackwardInputs } from '../src/attention/normalise.ts';
import type { ErrorCode } from '../src/errors.ts';
import { load } from '../src/expr/build.ts';
import { scoreMod } from '../src/expr/mod.ts';
import { alibiMod } from '../src/expr/score-mods.ts';
import { Tensor } from '../src/tensor/tensor.ts';

/** A call that breaks one rule: its argument, code, what the message says of value and rule, and what differs from a good call. */
export interface BrokenCall {
  readonly argument: string;
  readonly code: ErrorCode;
  readonly says: RegExp;
  readonly inputs?: Partial<BackwardInputs<Tensor>>;
  readonly options?: object;
  /** Only backward has the rule. */
  readonly backward?: true;
}

const f32 = (...shape: number[]): Tensor => Tensor.zeros(shape);
const typed = (dtype: Tensor['dtype'], ...shape: number[]): Tensor => Tensor.zeros(shape, { dtype });
const i32 = (...values: number[]): Tensor => Tensor.from(values, [values.length], { dtype: 'i32' });
const [B, H, S, D] = [2, 2, 3, 4];
/** A call that breaks none. */
export const goodCall: BackwardInputs<Tensor> = {
  ...{ q: f32(B, H, S, D), k: f32(B, H, S, D), v: f32(B, H, S, D), o: f32(B, H, S, D), dO: f32(B, H, S, D) },
  lse: f32(B, H, S),
};
const packed = {
  q: f32(5, H, D),
  k: f32(5, H, D),
  v: f32(5, H, D),
  o: f32(5, H, D),
  dO: f32(5, H, D),
  lse: f32(H, 5),
};
const cuSeqLens = { cuSeqLensQ: [0, 2, 5], cuSeqLensKv: [0, 2, 5] };
const pages = { pageTableK: typed('i32', 2, 2), pageTableV: typed('i32', 2, 2), seqLensKv: [1, 1] };
const paged = { k: f32(4, H, 2, D), v: f32(4, H, 2, D) };
/** q, k and v in MXFP8, and their scales. */
const eightBit = {
  q: typed('f8e4m3', B, H, S, D),
  k: typed('f8e4m3', B, H, S, D),
  v: typed('f8e4m3', B, H, S, D),
};
const blockScales = {
  descaleQ: typed('u8', B, H, S, 1),
  descaleK: typed('u8', B, H, S, 1),
  descaleV: typed('u8', B, H, 1, D),
};
/** A tensor that is not on the host: all that is known is its description. */
const elsewhere = (dtype: Tensor['dtype'], ...shape: number[]): Tensor => {
  const { strides } = f32(...shape);
  return { dtype, shape, strides } as unknown as Tensor;
};

const shape = (
  argument: string,
  says: RegExp,
  rest: Omit<BrokenCall, 'argument' | 'says' | 'code'>,
): BrokenCall => {
  return { argument, says, code: 'INVALID_SHAPE', ...rest };
};
const dtype = (
  argument: string,
  says: RegExp,
  rest: Omit<BrokenCall, 'argument' | 'says' | 'code'>,
): BrokenCall => {
  return { argument, says, code: 'INVALID_DTYPE', ...rest };
};
const value = (
  argument: string,
  says: RegExp,
  rest: Omit<BrokenCall, 'argument' | 'says' | 'code'>,
): BrokenCall => {
  return { argument, says, code: 'INVALID_ARGUMENT', ...rest };
};

/** A case for each rule of the options. */
export const brokenCalls: readonly BrokenCall[] = [
  ...(['q', 'k', 'v'] as const).flatMap(name => [
    value(name, /must be a tensor, got Array/, { inputs: { [name]: [1, 2] as unknown as Tensor } }),
    shape(name, /must have rank 4.*got shape \[2,4\]/, { inputs: { [name]: f32(2, 4) } }),
    shape(name, /must have rank 4.*or 3.*cuSeqLens/, { inputs: { [name]: f32(2, 2, 4) } }),
    dtype(name, /must be a float dtype, got i32/, { inputs: { [name]: typed('i32', B, H, S, D) } }),
  ]),
  shape('q', /must have rank 3/, {
    inputs: { q: f32(2, 4) },
    options: { raggedOffsets: { q: [0, 4, 8] }, seqLensQ: [1, 1] },
  }),
  shape('q', /at least one head.*Hq = 0/, { inputs: { q: f32(B, 0, S, D) } }),
  shape('k', /head size of q \(4\), got 5/, { inputs: { k: f32(B, H, S, 5) } }),
  shape('k', /divides q's 2, got 3/, { inputs: { k: f32(B, 3, S, D) } }),
  shape('v', /divides q's 2, got 0/, { inputs: { v: f32(B, 0, S, D) } }),
  shape('v', /at least one channel, got Dv = 0/, { inputs: { v: f32(B, H, S, 0) } }),
  shape('k', /batch size of q \(2\), got 1/, { inputs: { k: f32(1, H, S, D) } }),
  shape('v', /batch size of q \(2\), got 3/, { inputs: { v: f32(3, H, S, D) } }),
  shape('v', /as many positions as k \(3\), got 4/, { inputs: { v: f32(B, H, 4, D) } }),
  dtype('outDType', /must be a float dtype, got u8/, { options: { outDType: 'u8' } }),
  value('scale', /finite number, got NaN/, { options: { scale: NaN } }),
  value('softcap', /finite number > 0, got -1/, { options: { softcap: -1 } }),
  value('window.left', /integer ≥ 0.*got -2/, { options: { window: { left: -2 } } }),
  value('window.right', /integer ≥ 0.*got 0.5/, { options: { window: { right: 0.5 } } }),
  value('causal', /got left/, { options: { causal: 'left' } }),
  value('window.align', /got middle/, { options: { window: { align: 'middle' } } }),
  value('window.align', /that of causal \('top-left'\), got 'bottom-right'/, {
    options: { causal: true, window: { align: 'bottom-right' } },
  }),
  dtype('bias', /float dtype, got bool/, { options: { bias: typed('bool', S, S) } }),
  shape('bias', /broadcastable to \[2,2,3,3\], got shape \[2\]/, { options: { bias: f32(2) } }),
  value('bias', /must be a tensor, got Array/, { options: { bias: [1, 2, 3] } }),
  dtype('mask', /bool \(or u8\), got f32/, { options: { mask: f32(S, S) } }),
  dtype('blockMask', /must be u8, got i32/, { options: { blockMask: typed('i32', 1, 1, 1, 1) } }),
  shape('blockMask', /must end in \[1,2\]/, {
    inputs: { ...{ k: f32(B, H, 1100, D), v: f32(B, H, 1100, D) } },
    options: { blockMask: typed('u8', 1, 1, 1, 1) },
  }),
  value('alibi', /finite numbers, got NaN at 1/, { options: { alibi: [1, NaN] } }),
  shape('alibi', /must have shape \[2\], got \[3\]/, { options: { alibi: [1, 2, 3] } }),
  dtype('sink', /must be f32, got i32/, { options: { sink: i32(1, 2) } }),
  value('seqLensQ', /32-bit integers, got 0.5 at 0/, { options: { seqLensQ: [0.5, 1] } }),
  value('seqLensQ', /lengths in \[0, 3\], got 4 for sequence 1/, { options: { seqLensQ: [1, 4] } }),
  value('seqLensKv', /lengths in \[0, 3\], got -1 for sequence 0/, { options: { seqLensKv: [-1, 1] } }),
  value('maxSeqLenQ', /these have 3 positions, got 5/, { options: { maxSeqLenQ: 5 } }),
  value('maxSeqLenQ', /integer ≥ 0, got -1/, { inputs: packed, options: { ...cuSeqLens, maxSeqLenQ: -1 } }),
  value('maxSeqLenKv', /integer ≥ 0, got 2.5/, {
    inputs: packed,
    options: { ...cuSeqLens, maxSeqLenKv: 2.5 },
  }),
  value('maxSeqLenQ', /when cuSeqLensQ is not on the host/, {
    inputs: packed,
    options: { ...cuSeqLens, cuSeqLensQ: elsewhere('i32', 3) },
  }),
  value('cuSeqLensQ', /start with 0, got 1/, {
    inputs: packed,
    options: { ...cuSeqLens, cuSeqLensQ: [1, 2, 5] },
  }),
  value('cuSeqLensKv', /not decrease, got 3 then 2/, {
    inputs: packed,
    options: { ...cuSeqLens, cuSeqLensKv: [0, 3, 2] },
  }),
  value('cuSeqLensQ', /within the 5 packed tokens of q, got 6/, {
    inputs: packed,
    options: { ...cuSeqLens, cuSeqLensQ: [0, 2, 6] },
  }),
  value('cuSeqLensKv', /sequence of 3, longer than the maximum 2/, {
    inputs: packed,
    options: { ...cuSeqLens, maxSeqLenKv: 2 },
  }),
  shape('cuSeqLensQ', /\[B \+ 1\], got \[\]/, {
    inputs: packed,
    options: { ...cuSeqLens, cuSeqLensQ: Tensor.from([0], [], { dtype: 'i32' }) },
  }),
  value('raggedOffsets', /must be those of q, k.*got lse/, {
    options: { raggedOffsets: { lse: [0, 1, 2] } },
  }),
  ...(['Q', 'Kv'] as const).map(side =>
    value(`seqLens${side}`, /ragged offsets do not say how long/, {
      inputs: side === 'Q' ? { q: f32(6, H, D) } : { k: f32(6, H, D), v: f32(6, H, D) },
      options: { raggedOffsets: side === 'Q' ? { q: [0, 8, 16] } : { k: [0, 8, 16], v: [0, 8, 16] } },
    }),
  ),
  ...(['Q', 'Kv'] as const).map(side =>
    value(`seqLens${side}`, /ragged offsets do not say how long/, {
      inputs: side === 'Q' ? { q: f32(6, H, D) } : { k: f32(6, H, D), v: f32(6, H, D) },
      options: {
        ...{ maxSeqLenQ: side === 'Q' ? 3 : undefined, maxSeqLenKv: side === 'Kv' ? 3 : undefined },
        raggedOffsets: side === 'Q' ? { q: [0, 8, 16] } : { k: [0, 8, 16], v: [0, 8, 16] },
      },
    }),
  ),
  value('raggedOffsets.q', /must not be negative, got -8/, {
    inputs: { q: f32(6, H, D) },
    options: { seqLensQ: [1, 1], raggedOffsets: { q: [-8, 8, 16] } },
  }),
  value('raggedOffsets.q', /not decrease, got 16 then 8/, {
    inputs: { q: f32(6, H, D) },
    options: { seqLensQ: [1, 1], raggedOffsets: { q: [0, 16, 8] } },
  }),
  value('raggedOffsets.q', /room for each sequence within the 48 elements of q/, {
    inputs: { q: f32(6, H, D) },
    options: { seqLensQ: [1, 3], raggedOffsets: { q: [0, 32, 48] } },
  }),
  value('raggedOffsets.o', /keep sequences apart, got 0 then 8/, {
    inputs: { q: f32(6, H, D) },
    options: { seqLensQ: [3, 3], raggedOffsets: { q: [0, 24, 48], o: [0, 8, 48] } },
  }),
  value('raggedOffsets.k', /cannot be combined with a page table/, {
    inputs: paged,
    options: { ...pages, raggedOffsets: { k: [0, 8, 16] } },
  }),
  value('seqLensKv', /given with pageTableK/, {
    inputs: paged,
    options: { pageTableK: pages.pageTableK, pageTableV: pages.pageTableV },
  }),
  value('seqLensKv', /given with pageTableV/, {
    inputs: { v: f32(4, H, 2, D) },
    options: { pageTableV: pages.pageTableV },
  }),
  shape('k', /page size that is a power of two, got 3/, {
    inputs: { k: f32(4, H, 3, D) },
    options: { pageTableK: pages.pageTableK, seqLensKv: [1, 1] },
  }),
  shape('v', /page size that is a power of two, got 3/, {
    inputs: { v: f32(4, H, 3, D) },
    options: { pageTableV: pages.pageTableV, seqLensKv: [1, 1] },
  }),
  ...(['K', 'V'] as const).flatMap(name => [
    shape(`pageTable${name}`, /must have 2 rows/, {
      inputs: paged,
      options: { ...pages, [`pageTable${name}`]: typed('i32', 3, 2) },
    }),
    dtype(`pageTable${name}`, /i32 or u32, got u8/, {
      inputs: paged,
      options: { ...pages, [`pageTable${name}`]: typed('u8', 2, 2) },
    }),
    shape(`pageTable${name}`, /must have rank 2/, {
      inputs: paged,
      options: { ...pages, [`pageTable${name}`]: typed('i32', 2, 2, 1) },
    }),
    value(`pageTable${name}`, /blocks in \[0, 4\).*got 4 for sequence 1, page 0/, {
      inputs: paged,
      options: { ...pages, [`pageTable${name}`]: Tensor.from([0, 9, 4, 9], [2, 2], { dtype: 'i32' }) },
    }),
    value(`cuPages${name}`, /is for a pageTable. of rank 1/, {
      inputs: paged,
      options: { ...pages, [`cuPages${name}`]: [0, 1, 2] },
    }),
  ]),
  value('cuPagesK', /must be given: pageTableK has rank 1/, {
    inputs: paged,
    options: { ...pages, pageTableK: i32(0, 1) },
  }),
  value('cuPagesK', /within the 2 pages of the table, got 3/, {
    inputs: paged,
    options: { ...pages, pageTableK: i32(0, 1), cuPagesK: [0, 1, 3] },
  }),
  value('cuPagesK', /sequence 1 at least 1 pages for its 1 keys, got 0/, {
    inputs: paged,
    options: { ...pages, pageTableK: i32(0, 1), cuPagesK: [0, 2, 2] },
  }),
  value('maxSeqLenKv', /when cuPagesK is not on the host/, {
    inputs: paged,
    options: {
      ...pages,
      pageTableK: i32(0, 1),
      pageTableV: i32(0, 1),
      cuPagesK: elsewhere('i32', 3),
      cuPagesV: [0, 1, 2],
    },
  }),
  value('dropout', /\{ p, seed \} or \{ mask \}, got 0.5/, { options: { dropout: 0.5 } }),
  value('dropout', /got neither/, { options: { dropout: { p: 0.5 } } }),
  value('dropout', /got both/, { options: { dropout: { p: 0.5, seed: 1, mask: typed('bool', 1) } } }),
  value('dropout.p', /in \[0, 1\), got 1$/, { options: { dropout: { p: 1, seed: 1 } } }),
  value('dropout.seed', /-1/, { options: { dropout: { p: 0.5, seed: -1 } } }),
  value('dropout.scheme', /must be one of.*got mine/, {
    options: { dropout: { p: 0.5, seed: 1, scheme: 'mine' } },
  }),
  value('dropout.scale', /finite, got Infinity/, {
    options: { dropout: { mask: typed('bool', 1), scale: Infinity } },
  }),
  dtype('dropout.mask', /bool \(or u8\), got f32/, { options: { dropout: { mask: f32(1) } } }),
  value('scoreMod', /must be made by scoreMod, maskMod or modOf/, {
    options: { scoreMod: { expr: scoreMod(() => 1).expr } },
  }),
  value('scoreMod.captures', /must hold 'table'/, {
    options: { scoreMod: scoreMod(() => load('table', [0])) },
  }),
  value('maskMod', /must give bool/, { options: { maskMod: scoreMod(({ score }) => score) } }),
  value('maskMod.captures', /another 'alibiSlopes' than scoreMod.captures/, {
    options: {
      scoreMod: alibiMod(f32(H)),
      maskMod: {
        ...alibiMod(f32(H)),
        expr: {
          kind: 'binary',
          type: 'bool',
          op: 'gt',
          a: load('alibiSlopes', [0]),
          b: load('alibiSlopes', [1]),
        },
      },
    },
  }),
  dtype('fp8', /needs q in f8e4m3 or f8e5m2.*got f32/, { options: { fp8: {} } }),
  value('fp8', /object of scales, got 3/, { options: { fp8: 3 } }),
  value('fp8.scaleX', /is none of descaleQ/, { options: { fp8: { scaleX: 1 } } }),
  value('fp8.scaleS', /finite number > 0, got 0/, { options: { fp8: { scaleS: 0 } } }),
  shape('fp8.scaleS', /one element, got shape \[2\]/, { options: { fp8: { scaleS: f32(2) } } }),
  dtype('fp8.scaleS', /must be f32, got i32/, { options: { fp8: { scaleS: i32(1) } } }),
  dtype('fp8.formatP', /must have a dtype of f8e4m3, f8e5m2, u8, i8, got f16/, {
    options: { fp8: { formatP: { dtype: 'f16' } } },
  }),
  value('fp8.formatP.zeroPoint', /must be an integer in \[-128, 127\] for i8, got 128/, {
    options: { fp8: { formatP: { dtype: 'i8', zeroPoint: 128 } } },
  }),
  value('fp8.formatP', /is a format of forward only/, {
    options: { fp8: { formatP: { dtype: 'u8' } } },
    backward: true,
  }),
  ...(['amaxS', 'amaxO'] as const).map(name =>
    value(`outputs.${name}`, /give fp8 too/, { options: { outputs: { [name]: true } } }),
  ),
  ...(
    [
      ['amaxDQ', 'dk'],
      ['amaxDK', 'dv'],
      ['amaxDV', 'dq'],
      ['amaxDP', 'dv'],
    ] as const
  ).flatMap(([name, other]) => [
    value(`outputs.${name}`, /give fp8 too/, { backward: true, options: { outputs: { [name]: true } } }),
    value(`outputs.${name}`, new RegExp(`among the gradients, got ${other}`), {
      backward: true,
      inputs: { q: typed('f8e4m3', B, H, S, D) },
      options: { fp8: {}, gradients: [other], outputs: { [name]: true } },
    }),
  ]),
  value('mxfp8', /object of scales, got 3/, { options: { mxfp8: 3 } }),
  value('mxfp8', /cannot be combined with fp8/, {
    inputs: eightBit,
    options: { mxfp8: blockScales, fp8: {} },
  }),
  value('mxfp8.layout', /'rows' or 'F8_128x4', got columns/, {
    inputs: eightBit,
    options: { mxfp8: { ...blockScales, layout: 'columns' } },
  }),
  value('mxfp8', /cannot be combined with a packed, ragged or paged q/, {
    inputs: { q: packed.q.cast('f8e4m3'), k: packed.k.cast('f8e4m3'), v: packed.v.cast('f8e4m3') },
    options: { ...cuSeqLens, mxfp8: blockScales },
  }),
  value('mxfp8.descaleV', /must be given/, {
    inputs: eightBit,
    options: { mxfp8: { ...blockScales, descaleV: undefined } },
  }),
  value('mxfp8.qT', /must be given/, {
    backward: true,
    inputs: eightBit,
    options: { mxfp8: { ...blockScales, descaleQT: blockScales.descaleV } },
  }),
  shape('mxfp8.descaleQ', /must have shape \[2,2,3,1\], got \[2,2,1,4\]/, {
    inputs: eightBit,
    options: { mxfp8: { ...blockScales, descaleQ: blockScales.descaleV } },
  }),
  shape('mxfp8.descaleQ', /must be contiguous \(strides \[6,3,1,1\]\), got strides/, {
    inputs: eightBit,
    options: {
      mxfp8: {
        ...blockScales,
        descaleQ: Tensor.zeros([B, H, S, 1], { dtype: 'u8', strides: [12, 6, 2, 1] }),
      },
    },
  }),
  dtype('mxfp8.descaleQ', /must be u8, got i8/, {
    inputs: eightBit,
    options: { mxfp8: { ...blockScales, descaleQ: typed('i8', B, H, S, 1) } },
  }),
  dtype('q', /f8e4m3 or f8e5m2 as q with mxfp8, got f32/, { options: { mxfp8: blockScales } }),
  dtype('k', /f8e4m3 or f8e5m2 as q with mxfp8, got f8e5m2/, {
    inputs: { ...eightBit, k: typed('f8e5m2', B, H, S, D) },
    options: { mxfp8: blockScales },
  }),
  dtype('v', /f8e4m3 or f8e5m2 as q with mxfp8, got f32/, {
    inputs: { ...eightBit, v: f32(B, H, S, D) },
    options: { mxfp8: blockScales },
  }),
  value('outputs.amaxS', /no result with mxfp8/, {
    inputs: eightBit,
    options: { mxfp8: blockScales, outputs: { amaxS: true } },
  }),
  shape('o', /shape of the output.*got \[2,2,3,5\]/, { backward: true, inputs: { o: f32(B, H, S, 5) } }),
  dtype('o', /float dtype, got u8/, { backward: true, inputs: { o: typed('u8', B, H, S, D) } }),
  shape('dO', /shape of the output.*got \[2,1,3,4\]/, { backward: true, inputs: { dO: f32(B, 1, S, D) } }),
  dtype('dO', /float dtype, got i32/, { backward: true, inputs: { dO: typed('i32', B, H, S, D) } }),
  shape('lse', /must have shape \[2,2,3\], got \[2,2,4\]/, { backward: true, inputs: { lse: f32(B, H, 4) } }),
  dtype('dLse', /must be f32, got f16/, { backward: true, inputs: { dLse: typed('f16', B, H, S) } }),
  value('gradients', /cannot hold dbias: its input was not given/, {
    backward: true,
    options: { gradients: ['dbias'] },
  }),
  value('gradients', /must be among dq.*got dx/, { backward: true, options: { gradients: ['dx'] } }),
  value('gradients', /cannot hold dk of a paged k/, {
    backward: true,
    inputs: paged,
    options: { ...pages, gradients: ['dk'] },
  }),
  value('gradients', /cannot hold dv of a paged v/, {
    backward: true,
    inputs: paged,
    options: { ...pages, gradients: ['dv'] },
  }),
  dtype('gradDType', /float dtype, got bool/, { backward: true, options: { gradDType: 'bool' } }),
];
