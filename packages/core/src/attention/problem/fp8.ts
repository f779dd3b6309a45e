/**
 * The scalars of the FP8 contract, in their order in the f32 list that GPU kernels bind as `fp8`. A `descale`
 * turns a stored value into the value it stands for, a `scale` does the reverse.
 */
export const fp8ScalarNames = [
  'descaleQ',
  'descaleK',
  'descaleV',
  'descaleS',
  'scaleS',
  'scaleO',
  'descaleO',
  'descaleDO',
  'descaleDP',
  'scaleDP',
  'scaleDQ',
  'scaleDK',
  'scaleDV',
] as const;

/**
 * The largest magnitudes that FP8 arithmetic measures, in the order in which they follow the scalars in the
 * list that GPU kernels bind as `fp8`.
 */
export const fp8AmaxNames = ['amaxS', 'amaxO', 'amaxDQ', 'amaxDK', 'amaxDV', 'amaxDP'] as const;

/** One of `fp8ScalarNames`. */
export type Fp8ScalarName = (typeof fp8ScalarNames)[number];

/**
 * One step of the FP8 contract: a number is multiplied by the descales, measured, multiplied by the scale,
 * and rounded.
 */
export interface Fp8Step {
  /** The scalars that the number is multiplied by first. Default: none. */
  readonly descales?: readonly Fp8ScalarName[];
  /** The name under which its largest magnitude is measured, before `scale`. Default: not measured. */
  readonly amax?: (typeof fp8AmaxNames)[number];
  /** The scalar that the number is multiplied by last. Default: none. */
  readonly scale?: Fp8ScalarName;
  /** Whether the number is then rounded to q's format. Results are rounded to their own dtype. */
  readonly rounds?: boolean;
}

/**
 * The steps of the contract, named by the number that they change: `weight` is dropout(P), `product` is q·kᵀ,
 * and `ds` is the dS of `Fp8Options`, which includes the scale of the scores.
 */
export type Fp8StepName = 'product' | 'weight' | 'o' | 'delta' | 'dp' | 'ds' | 'dq' | 'dk' | 'dv';

/** The contract of `Fp8Options`, step by step. */
export const fp8Steps: Readonly<Record<Fp8StepName, Fp8Step>> = {
  product: { descales: ['descaleQ', 'descaleK'] },
  weight: { amax: 'amaxS', scale: 'scaleS', rounds: true },
  o: { descales: ['descaleS', 'descaleV'], amax: 'amaxO', scale: 'scaleO' },
  delta: { descales: ['descaleDO', 'descaleO'] },
  dp: { descales: ['descaleDO', 'descaleV'] },
  ds: { amax: 'amaxDP', scale: 'scaleDP', rounds: true },
  dq: { descales: ['descaleDP', 'descaleK'], amax: 'amaxDQ', scale: 'scaleDQ' },
  dk: { descales: ['descaleDP', 'descaleQ'], amax: 'amaxDK', scale: 'scaleDK' },
  dv: { descales: ['descaleS', 'descaleDO'], amax: 'amaxDV', scale: 'scaleDV' },
};

/** Every scalar of the contract, including those that have their default. */
export type Fp8Scalars<T> = Readonly<Record<Fp8ScalarName, T>>;

/**
 * An 8-bit format of P: a float format, or integers with a zero point z (default 0) that stands for P = 0: P8
 * = clamp(round(dropout(P) · scaleS + z)) − z.
 */
export interface FormatP {
  /** The dtype that P is rounded to. */
  readonly dtype: 'f8e4m3' | 'f8e5m2' | 'u8' | 'i8';
  /** The integer that stands for P = 0, for `u8` and `i8` only. Default 0. */
  readonly zeroPoint?: number | undefined;
}

/** The least and the greatest integer of each format of P; null for a float format. */
export const formatPRange: Readonly<Record<FormatP['dtype'], readonly [number, number] | null>> = {
  f8e4m3: null,
  f8e5m2: null,
  u8: [0, 255],
  i8: [-128, 127],
};
