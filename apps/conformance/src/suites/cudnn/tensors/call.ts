import { type GradientName, type SdpaOptions, Tensor } from '@tilewise/core';
import type { Concrete } from '../concrete/concrete.ts';
import { extent } from '../concrete/layouts.ts';
import type { StrideName } from '../format/case-format.ts';
import { drawTensor, type Operands } from './data.ts';
import { type Fp8Numbers, fp8Scale, largest, probabilityScales } from './fp8.ts';
import { quantised } from './mxfp8.ts';
import { commonOptions, wantedGradients } from './options.ts';
import { toPages } from './pages.ts';
import { isRagged, raggedOffsets } from './ragged.ts';
import { cumulative, place, write } from './storage.ts';

/** Operands with the options of a call of attention. */
export interface Inputs extends Operands {
  readonly options: SdpaOptions<Tensor>;
}

/**
 * One call, twice: for the reference, contiguous in (B, H, S, D), and for the engine in the layout of the
 * case.
 */
export interface Call {
  readonly concrete: Concrete;
  readonly exact: Inputs;
  readonly laidOut: Inputs;
  readonly gradients: readonly GradientName[];
  /** The scales of the FP8 contract with which inputs and P are stored. */
  readonly fp8: Fp8Numbers | null;
}

/** Draws the data of a call and puts them into its layout. */
export function makeCall(c: Concrete): Call {
  const meant = { q: drawn(c, 'q'), k: drawn(c, 'k'), v: drawn(c, 'v'), dO: drawn(c, 'dO') };
  const blocks = c.precision === 'mxfp8' ? quantised(c, meant) : null;
  const scales = c.precision === 'fp8' ? scaled(c, meant) : null;
  const operands = (blocks ?? scales)?.operands ?? meant;
  const fp8 = scales?.fp8 ?? null;
  const common = { ...commonOptions(c), ...(fp8 && { fp8 }), ...(blocks && { mxfp8: blocks.option }) };
  const { q: lengthsQ, kv: lengthsKv } = c.lengths;
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

/** The call with all scalars of the FP8 contract, including those of its results. */
export function withScales(call: Call, fp8: Fp8Numbers): Call {
  const { laidOut } = call;
  return { ...call, laidOut: { ...laidOut, options: { ...laidOut.options, fp8 } } };
}

/** The stored operands of a call under the FP8 contract, and their scalars. */
function scaled(c: Concrete, meant: Operands): { readonly operands: Operands; readonly fp8: Fp8Numbers } {
  const { dtype } = c;
  const stored = (t: Tensor): { readonly tensor: Tensor; readonly descale: number } => {
    const values = t.toFloat64();
    const scale = fp8Scale(dtype, largest(values));
    for (let n = 0; n < values.length; n++) values[n] *= scale;
    return { tensor: Tensor.from(values, t.shape, { dtype }), descale: 1 / scale };
  };
  const [q, k, v, dO] = [stored(meant.q), stored(meant.k), stored(meant.v), stored(meant.dO)];
  return {
    operands: { q: q.tensor, k: k.tensor, v: v.tensor, dO: dO.tensor },
    fp8: {
      ...probabilityScales(c),
      descaleQ: q.descale,
      descaleK: k.descale,
      descaleV: v.descale,
      descaleDO: dO.descale,
    },
  };
}

function layOut(c: Concrete, dense: Operands, common: SdpaOptions<Tensor>): Inputs {
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

/** The lengths, and the starts of packed sequences. */
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

/**
 * The values of an operand that the reference computes with: rounded to the dtype in which the operand is
 * stored, or, if it has block scales, to the dtype that it is quantised from.
 */
function drawn(c: Concrete, name: keyof Operands): Tensor {
  const [H, S, D] = extent(name === 'dO' ? 'o' : name, c.dims);
  return drawTensor(c, name, [c.dims.B, H, S, D], c.precision === 'mxfp8' ? c.outDType : c.dtype);
}
