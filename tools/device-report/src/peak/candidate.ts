/** The precision of a matrix product: f32, f16 with f32 sums, or the subgroup matrices of an adapter. */
export type PeakPrecision = 'f32' | 'f16' | 'subgroup matrix';

/**
 * A kernel for square products of one size: bindings 0 and 1 are A and B in the storage dtype, 2 is C in f32.
 */
export interface MatmulCandidate {
  readonly name: string;
  readonly precision: PeakPrecision;
  readonly storage: 'f32' | 'f16';
  readonly wgsl: string;
  readonly groups: readonly [x: number, y: number];
}
