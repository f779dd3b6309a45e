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

/** The request of a point of a grid, before anything is drawn. */
export interface Point {
  readonly dims: PointDims;
  readonly dtype: DType;
  readonly inputs: 'uniform' | 'normal';
  /** dO: drawn as the inputs are, all ones (the gradient of a sum), or o itself. */
  readonly upstream: 'drawn' | 'ones' | 'o';
  /**
   * How q, k and v lie: (B, H, S, D) each; as views of (B, S, 3, H, D); as one tensor, three times; k and v
   * as views of (B, S, 2, D) that all heads share by stride 0; as views of (B, S, H, D + 8).
   */
  readonly layout?: 'contiguous' | 'packed qkv' | 'one tensor' | 'shared heads' | 'strided';
  /** Options that need random values draw them from the stream. */
  readonly options: (stream: PhiloxStream) => SdpaOptions<Tensor>;
  readonly backward: boolean;
  readonly withBiasGradient?: boolean;
  /** Two runs give the same bits. */
  readonly repeat?: boolean;
  /**
   * Keys and values from these positions on, of each sequence, are NaN to the engine: nothing may read them.
   */
  readonly unusedKeys?: readonly number[];
  /** The first sequence must give the same bits alone. Needs lengths as lists. */
  readonly alone?: boolean;
  /** Multiplies the fudge factors of the group. */
  readonly leniency?: number;
}

/** Dimensions, where q, k and v have the same heads and v the channels of k. */
export function dims(B: number, H: number, Sq: number, Skv: number, D: number): PointDims {
  return { B, Hq: H, Hk: H, Sq, Skv, D, Dv: D };
}
