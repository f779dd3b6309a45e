/**
 * The scalars of the FP8 contract, in the order in which they lie in the f32 list that GPU kernels bind as
 * `fp8`. A `descale` turns what is stored into what is meant, a `scale` the other way round.
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
 * The largest values that FP8 arithmetic measures, in the order in which they follow the scalars in that
 * list.
 */
export const fp8AmaxNames = ['amaxS', 'amaxO', 'amaxDQ', 'amaxDK', 'amaxDV', 'amaxDP'] as const;

/** One of `fp8ScalarNames`. */
export type Fp8ScalarName = (typeof fp8ScalarNames)[number];

/**
 * One number in the FP8 contract is multiplied by the descales, measured, multiplied by the scale, and
 * rounded.
 */
export interface Fp8Step {
  readonly descales?: readonly Fp8ScalarName[];
  readonly amax?: (typeof fp8AmaxNames)[number];
  readonly scale?: Fp8ScalarName;
  /** Whether it is then rounded to q's format; results are to their own. */
  readonly rounds?: boolean;
}

/**
 * The steps of the contract, each by what it is applied to: `weight` is dropout(P), `ds` scale · dS,
 * `product` q·kᵀ.
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

/** Every scalar of the contract, the defaults too. */
export type Fp8Scalars<T> = Readonly<Record<Fp8ScalarName, T>>;

/**
 * An 8-bit format of P: a float, or integers, of which the zero point z (default 0) stands for P = 0:
 * P8 = clamp(round(dropout(P) · scaleS + z)) − z.
 */
export interface FormatP {
  readonly dtype: 'f8e4m3' | 'f8e5m2' | 'u8' | 'i8';
  readonly zeroPoint?: number | undefined;
}

/** The least and the largest integer of each format of P; null of a float. */
export const formatPRange: Readonly<Record<FormatP['dtype'], readonly [number, number] | null>> = {
  f8e4m3: null,
  f8e5m2: null,
  u8: [0, 255],
  i8: [-128, 127],
};
