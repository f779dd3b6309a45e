import type { DType, SdpaOptions, Tensor } from '@tilewise/core';
import type { PhiloxStream } from '@tilewise/philox';

/** The dimensions of a problem. */
export interface PointDims {
  readonly B: number;
  readonly Hq: number;
  readonly Hk: number;
  readonly Sq: number;
  readonly Skv: number;
  readonly D: number;
  readonly Dv: number;
}

/** What a point of a grid asks for, before anything is drawn. */
export interface Point {
  readonly dims: PointDims;
  readonly dtype: DType;
  readonly inputs: 'uniform' | 'normal';
  /** dO: drawn like the inputs, all ones (the gradient of a sum), or o itself. */
  readonly upstream: 'drawn' | 'ones' | 'o';
  /**
   * The layout of q, k and v: (B, H, S, D) each; as views of (B, S, 3, H, D); as one tensor, three times; k
   * and v as views of (B, S, 2, D) that all heads share by stride 0; as views of (B, S, H, D + 8).
   */
  readonly layout?: 'contiguous' | 'packed qkv' | 'one tensor' | 'shared heads' | 'strided';
  /** Options that need random values draw them from the stream. */
  readonly options: (stream: PhiloxStream) => SdpaOptions<Tensor>;
  readonly backward: boolean;
  readonly withBiasGradient?: boolean;
  /** Two runs must give the same bits. */
  readonly repeat?: boolean;
  /**
   * From these positions on, the keys and values of each sequence are NaN for the engine, so that nothing may
   * read them.
   */
  readonly unusedKeys?: readonly number[];
  /** The first sequence must give the same bits alone. Needs lengths as lists. */
  readonly alone?: boolean;
  /** Multiplies the fudge factors of the group. */
  readonly leniency?: number;
}

/** The dimensions of a problem in which q, k and v have equal heads, and v has as many channels as k. */
export function dims(B: number, H: number, Sq: number, Skv: number, D: number): PointDims {
  return { B, Hq: H, Hk: H, Sq, Skv, D, Dv: D };
}
