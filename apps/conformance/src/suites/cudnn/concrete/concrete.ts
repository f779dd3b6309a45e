import type { DType, Window } from '@tilewise/core';
import { cudnnOptions, d256Window } from '@tilewise/graph/cudnn';
import type { CudnnCase, Precision, Tolerance } from '../format/case-format.ts';
import type { Flags } from '../format/flags.ts';
import { type Dims, dimsOf } from './dims.ts';
import { seedOf } from './draw.ts';
import { type Layouts, layoutsOf } from './layouts.ts';
import { drawLengths, type Lengths } from './lengths.ts';

/** One call of attention, in which everything that a case states or leaves to chance has been decided. */
export interface Concrete {
  /** How the call differs from the other calls of its case; empty if there is only one call. */
  readonly label: string;
  readonly dims: Dims;
  readonly dtype: DType;
  readonly outDType: DType;
  readonly precision: Precision;
  readonly scale: number;
  readonly backward: boolean;
  readonly lengths: Lengths;
  readonly band: Band | null;
  readonly layouts: Layouts;
  readonly flags: Flags;
  readonly data: string | null;
  readonly seed: bigint;
  readonly tol: Readonly<Record<string, Tolerance>>;
}

/** Neighbours around the diagonal key, without that key. */
export type Band = Window;

/**
 * The calls that a case stands for: one, or one for each dtype or chunk that it names.
 * @throws Error saying which parts of the case do not fit together.
 */
export function concreteCalls(c: CudnnCase): Concrete[] {
  const seed = c.dataSeed ?? seedOf(c.id);
  const chunks = c.flags.chunks ?? 1;
  const calls: Concrete[] = [];
  for (const dtype of c.dtypes) {
    for (const outDType of c.outDTypes) {
      for (let chunk = 0; chunk < chunks; chunk++) {
        const parts = [
          c.dtypes.length > 1 ? dtype : '',
          c.outDTypes.length > 1 ? `o ${outDType}` : '',
          chunks > 1 ? `chunk ${chunk}` : '',
        ];
        calls.push({ ...concrete(c, seed, chunk, dtype, outDType), label: parts.filter(Boolean).join(' ') });
      }
    }
  }
  return calls;
}

function concrete(
  c: CudnnCase,
  seed: bigint,
  chunk: number,
  dtype: DType,
  outDType: DType | null,
): Omit<Concrete, 'label'> {
  const { flags } = c;
  const dims = dimsOf(c, seed);
  const scale = flags.attn_scale_prefolded ? 1 : (c.scale ?? 1);
  return {
    dims,
    dtype,
    // MXFP8 has no scale for an 8-bit result.
    outDType: outDType ?? (c.precision === 'mxfp8' ? 'bf16' : dtype),
    precision: c.precision,
    scale,
    backward: c.backward,
    lengths: drawLengths(c, dims, seed, chunk),
    band: bandOf(flags, chunk),
    layouts: layoutsOf(c, dims),
    flags,
    data: c.data,
    seed,
    tol: c.tol,
  };
}

/** The band from cuDNN's bounds, or from the window of its kernels for heads of 256. */
function bandOf(flags: Flags, chunk: number): Band | null {
  if (flags.window) {
    const [left, right] = flags.window;
    return d256Window({ windowSize: [left, right], isCausal: flags.is_causal ?? false }) ?? null;
  }
  const { left_bound, right_bound } = flags;
  const right = typeof right_bound === 'string' ? chunk * (flags.chunk ?? 0) : right_bound;
  const { window } = cudnnOptions({
    diagonalAlignment: flags.diagonal_alignment === 'BOTTOM_RIGHT' ? 'bottom-right' : 'top-left',
    ...(left_bound !== undefined && { diagonalBandLeftBound: left_bound }),
    ...(right !== undefined && { diagonalBandRightBound: right }),
  });
  return window ?? null;
}
