/** Sizes of an MXFP8 call with one head size. */
export interface Mxfp8Shape {
  readonly B: number;
  readonly Hq: number;
  readonly Hk: number;
  readonly Sq: number;
  readonly Skv: number;
  readonly D: number;
}

/** Functions that create tensors of the caller's type. */
export interface Mxfp8Tools<T> {
  /** Normal numbers in a shape; another `seed` gives other numbers. */
  readonly normal: (shape: readonly number[], seed: number) => T;
  readonly quantise: (t: T, along: 'channels' | 'positions') => { readonly values: T; readonly scales: T };
}

/** An MXFP8 call: q, k and v are quantised, dO is not; the scales and roundings have the option's names. */
export interface Mxfp8Call<T> {
  readonly q: T;
  readonly k: T;
  readonly v: T;
  readonly dO: T;
  readonly mxfp8: Readonly<
    Record<
      | 'descaleQ'
      | 'descaleK'
      | 'descaleV'
      | 'qT'
      | 'descaleQT'
      | 'kT'
      | 'descaleKT'
      | 'dO8'
      | 'descaleDO'
      | 'dOT'
      | 'descaleDOT',
      T
    >
  >;
}

/**
 * Normal numbers for all inputs of forward and backward. Each rounding of an operand is made from different
 * numbers. Roundings of the same numbers would hardly differ, because scales are powers of two and leave
 * significands unchanged, so a test would not notice an engine that confuses two of them.
 */
export function mxfp8Call<T>(
  { B, Hq, Hk, Sq, Skv, D }: Mxfp8Shape,
  { normal, quantise }: Mxfp8Tools<T>,
): Mxfp8Call<T> {
  const [q, k, v] = [
    normal([B, Hq, Sq, D], 1),
    normal([B, Hk, Skv, D], 2),
    normal([B, Hk, Skv, D], 3),
  ] as const;
  const dO = normal([B, Hq, Sq, D], 4);
  const [q8, k8, v8] = [quantise(q, 'channels'), quantise(k, 'channels'), quantise(v, 'positions')] as const;
  const qT = quantise(normal([B, Hq, Sq, D], 5), 'positions');
  const kT = quantise(normal([B, Hk, Skv, D], 6), 'positions');
  const dO8 = quantise(normal([B, Hq, Sq, D], 7), 'channels');
  const dOT = quantise(normal([B, Hq, Sq, D], 8), 'positions');
  return {
    q: q8.values,
    k: k8.values,
    v: v8.values,
    dO,
    mxfp8: {
      ...{ descaleQ: q8.scales, descaleK: k8.scales, descaleV: v8.scales },
      ...{ qT: qT.values, descaleQT: qT.scales, kT: kT.values, descaleKT: kT.scales },
      ...{ dO8: dO8.values, descaleDO: dO8.scales, dOT: dOT.values, descaleDOT: dOT.scales },
    },
  };
}
