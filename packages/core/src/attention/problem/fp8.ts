import { InvalidArgumentError, InvalidDTypeError, InvalidShapeError } from '../../errors.ts';
import { type HostArray, hostList } from '../../tensor/host-array.ts';
import { elementCount } from '../../tensor/shape.ts';
import type { TensorDesc } from '../../tensor/tensor.ts';
import type { FormatP, Fp8Options } from '../options/options.ts';
import { checkForms, formsOf, type OptionForm } from '../options/schema.ts';
import { checkTensor } from './describe.ts';

/**
 * The scalars of the FP8 contract, in the order in which they lie in the f32 list that GPU kernels bind as `fp8`. A
 * `descale` turns what is stored into what is meant, a `scale` the other way round.
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

/** The largest values that FP8 arithmetic measures, in the order in which they follow the scalars in that list. */
export const fp8AmaxNames = ['amaxS', 'amaxO', 'amaxDQ', 'amaxDK', 'amaxDV', 'amaxDP'] as const;

/** One of `fp8ScalarNames`. */
export type Fp8ScalarName = (typeof fp8ScalarNames)[number];

/** What the FP8 contract does to a number on its way: it is multiplied by the descales, measured, multiplied by the scale, and rounded. */
export interface Fp8Step {
  readonly descales?: readonly Fp8ScalarName[];
  readonly amax?: (typeof fp8AmaxNames)[number];
  readonly scale?: Fp8ScalarName;
  /** Whether it is then rounded to q's format; results are to their own. */
  readonly rounds?: boolean;
}

/** The steps of the contract, each by what it is applied to: `weight` is dropout(P), `ds` scale · dS, `product` q·kᵀ. */
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
 * The scalars as tensors of one f32: those that are numbers or absent (1) become host arrays.
 * @throws InvalidArgumentError, InvalidShapeError or InvalidDTypeError naming the scalar.
 */
export function fp8Scalars<T extends TensorDesc>(given: Fp8Options<T>): Fp8Scalars<T | HostArray> {
  checkForms('fp8', given, { ...formsOf(fp8ScalarNames, 'any'), formatP: 'object' });
  const scalars = fp8ScalarNames.map(name => [name, scalar(`fp8.${name}`, given[name] ?? 1)] as const);
  return Object.fromEntries(scalars) as Fp8Scalars<T | HostArray>;
}

const formatPForms: Readonly<Record<keyof FormatP, OptionForm>> = { dtype: 'any', zeroPoint: 'number' };

/** The least and the largest integer of each format of P; null of a float. */
export const formatPRange: Readonly<Record<FormatP['dtype'], readonly [number, number] | null>> = {
  f8e4m3: null,
  f8e5m2: null,
  u8: [0, 255],
  i8: [-128, 127],
};

/**
 * The format of P that a call asks for.
 * @throws InvalidDTypeError or InvalidArgumentError for one that there is not.
 */
export function fp8Format<T>({ formatP }: Fp8Options<T>): FormatP | undefined {
  if (formatP === undefined) return undefined;
  checkForms('fp8.formatP', formatP, formatPForms);
  const { dtype, zeroPoint = 0 } = formatP;
  if (!Object.hasOwn(formatPRange, dtype)) {
    const dtypes = Object.keys(formatPRange).join(', ');
    throw new InvalidDTypeError('fp8.formatP', `must have a dtype of ${dtypes}, got ${dtype}`);
  }
  const [least, largest] = formatPRange[dtype] ?? [0, 0];
  if (!Number.isInteger(zeroPoint) || zeroPoint < least || zeroPoint > largest) {
    throw new InvalidArgumentError(
      'fp8.formatP.zeroPoint',
      `must be an integer in [${least}, ${largest}] for ${dtype}, got ${zeroPoint}`,
    );
  }
  return { dtype, zeroPoint };
}

function scalar<T extends TensorDesc>(argument: string, value: number | T): T | HostArray {
  if (typeof value === 'number') {
    // Also of numbers that no f32 holds.
    if (!(Math.fround(value) > 0 && Math.fround(value) < Infinity))
      throw new InvalidArgumentError(argument, `must be a finite number > 0, got ${value}`);
    return hostList([value], 'f32');
  }
  checkTensor(argument, value);
  if (elementCount(value.shape) !== 1)
    throw new InvalidShapeError(argument, `must have one element, got shape [${value.shape}]`);
  if (value.dtype !== 'f32') throw new InvalidDTypeError(argument, `must be f32, got ${value.dtype}`);
  return value;
}
