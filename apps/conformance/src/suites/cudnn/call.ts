import { type DType, type GradientName, type SdpaOptions, Tensor } from '@tilewise/core';
import type { StrideName } from './case-format.ts';
import type { Concrete } from './concrete.ts';
import { drawValues, rounded } from './data.ts';
import { type Fp8Numbers, fp8Scale, largest, probabilityScales } from './fp8.ts';
import { extent } from './layouts.ts';
import { quantised } from './mxfp8.ts';
import { commonOptions, wantedGradients } from './options.ts';
import { toPages } from './pages.ts';
import { isRagged, raggedOffsets } from './ragged.ts';
import { cumulative, place, write } from './storage.ts';

/** q, k and v with the options of a call of attention, and with dO those of its backward pass. */
export interface Inputs {
  readonly q: Tensor;
  readonly k: Tensor;
  readonly v: Tensor;
  readonly dO: Tensor;
  readonly options: SdpaOptions<Tensor>;
}

/** One call, twice: for the reference contiguous in (B, H, S, D), and for the engine as the case lays it out. */
export interface Call {
  readonly concrete: Concrete;
  readonly exact: Inputs;
  readonly laidOut: Inputs;
  readonly gradients: readonly GradientName[];
  /** Of a call by the FP8 contract: by which scales its inputs are stored, and P is. */
  readonly fp8: Fp8Numbers | null;
}

/** Draws the data of a call and lays them out. */
export function makeCall(c: Concrete): Call {
  const meant = {
    q: valuesOf(c, 'q'),
    k: valuesOf(c, 'k'),
    v: valuesOf(c, 'v'),
    dO: valuesOf(c, 'dO'),
  };
  const blocks = c.precision === 'mxfp8' ? quantised(c, meant) : null;
  const scales = c.precision === 'fp8' ? scaled(c, meant) : null;
  const values = (blocks ?? scales)?.values ?? meant;
  const fp8 = scales?.fp8 ?? null;
  const common = { ...commonOptions(c), ...(fp8 && { fp8 }), ...(blocks && { mxfp8: blocks.option }) };
  const { q: lengthsQ, kv: lengthsKv } = c.lengths;
  const dense = (name: StrideName, from: Float64Array): Tensor => {
    const [H, S, D] = extent(name, c.dims);
    return Tensor.from(from, [c.dims.B, H, S, D], { dtype: inputDType(c, name) });
  };
  const operands = {
    q: dense('q', values.q),
    k: dense('k', values.k),
    v: dense('v', values.v),
    dO: dense('o', values.dO),
  };
  return {
    concrete: c,
    exact: {
      ...operands,
      options: {
        ...common,
        ...(lengthsQ && { seqLensQ: lengthsQ }),
        ...(lengthsKv && { seqLensKv: lengthsKv }),
      },
    },
    laidOut: layOut(c, operands, common),
    gradients: wantedGradients(c),
    fp8,
  };
}

/** MXFP8 takes dO unquantised too, stored as o is. */
function inputDType({ precision, dtype, outDType }: Concrete, name: StrideName): DType {
  return precision === 'mxfp8' && name === 'o' ? outDType : dtype;
}

/** The call with all scalars of the FP8 contract, those of its results too. */
export function withScales(call: Call, fp8: Fp8Numbers): Call {
  const { laidOut } = call;
  return { ...call, laidOut: { ...laidOut, options: { ...laidOut.options, fp8 } } };
}

/** Row-major (B, H, S, D) values, rounded to the dtype that they are stored in. */
type Values = Readonly<Record<'q' | 'k' | 'v' | 'dO', Float64Array>>;

/** What is stored for values by the FP8 contract, and the scalars that say so. */
function scaled(c: Concrete, meant: Values): { readonly values: Values; readonly fp8: Fp8Numbers } {
  const scales = {
    q: fp8Scale(c.dtype, largest(meant.q)),
    k: fp8Scale(c.dtype, largest(meant.k)),
    v: fp8Scale(c.dtype, largest(meant.v)),
    dO: fp8Scale(c.dtype, largest(meant.dO)),
  };
  const stored = (name: keyof Values): Float64Array =>
    rounded(
      meant[name].map(x => x * scales[name]),
      c.dtype,
    );
  return {
    values: { q: stored('q'), k: stored('k'), v: stored('v'), dO: stored('dO') },
    fp8: {
      ...probabilityScales(c),
      descaleQ: 1 / scales.q,
      descaleK: 1 / scales.k,
      descaleV: 1 / scales.v,
      descaleDO: 1 / scales.dO,
    },
  };
}

function layOut(c: Concrete, dense: Omit<Inputs, 'options'>, common: SdpaOptions<Tensor>): Inputs {
  const put = (name: StrideName, from: Tensor): Tensor => write(place(c, name, from.dtype), from);
  const q = put('q', dense.q);
  const dO = put('o', dense.dO);
  const { pageSize } = c.layouts;
  if (pageSize === null) {
    const [k, v] = [put('k', dense.k), put('v', dense.v)];
    return { q, k, v, dO, options: { ...common, ...lengthOptions(c) } };
  }
  const k = toPages(c, 'k', pageSize, dense.k);
  const v = toPages(c, 'v', pageSize, dense.v);
  const tables = {
    ...{ pageTableK: k.table, pageTableV: v.table },
    ...(k.cuPages && { cuPagesK: k.cuPages }),
    ...(v.cuPages && { cuPagesV: v.cuPages }),
  };
  const options = {
    ...common,
    ...lengthOptions(c),
    ...tables,
    maxSeqLenKv: c.flags.max_seq_len_kv ?? c.dims.Skv,
  };
  return { q, k: k.container, v: v.container, dO, options };
}

/** Lengths, and where packed sequences start. */
function lengthOptions(c: Concrete): SdpaOptions<Tensor> {
  const { dims, lengths, layouts, flags } = c;
  const side = (name: 'q' | 'k', given: readonly number[] | null, S: number) => {
    const packed = layouts[name].packed && (name === 'q' || layouts.pageSize === null);
    const all = given ?? new Array<number>(dims.B).fill(S);
    const cumulatively = packed && !isRagged(c);
    return {
      lengths: cumulatively ? undefined : packed ? all : (given ?? undefined),
      cumulative: cumulatively ? cumulative(all) : undefined,
      longest: packed ? S : undefined,
    };
  };
  const q = side('q', lengths.q, dims.Sq);
  const kv = side('k', lengths.kv, dims.Skv);
  const longestKv = flags.max_seq_len_kv ?? kv.longest;
  return {
    ...(q.lengths && { seqLensQ: q.lengths }),
    ...(q.cumulative && { cuSeqLensQ: q.cumulative }),
    ...(q.longest !== undefined && { maxSeqLenQ: q.longest }),
    ...(kv.lengths && { seqLensKv: kv.lengths }),
    ...(kv.cumulative && { cuSeqLensKv: kv.cumulative }),
    ...(longestKv !== undefined && { maxSeqLenKv: longestKv }),
    ...(isRagged(c) && { raggedOffsets: raggedOffsets(c, ['q', 'k', 'v']) }),
  };
}

function valuesOf(c: Concrete, name: keyof Values): Float64Array {
  const [H, S, D] = extent(name === 'dO' ? 'o' : name, c.dims);
  const values = drawValues(c, name, c.dims.B * H * S * D);
  // Scales are for what the dtype of the meant values holds; without them, a tensor rounds what it is given.
  return c.precision === 'float' ? values : rounded(values, c.precision === 'mxfp8' ? c.outDType : c.dtype);
}
