import { checkOneOf, InvalidArgumentError, InvalidDTypeError, InvalidShapeError } from '../../errors.ts';
import { blockScaleLayouts, blockScaleShape } from '../../mxfp8/block-scales.ts';
import { checkTensor, checkTensorOf } from '../../tensor/checks/check-tensor.ts';
import { type HostArray, hostList } from '../../tensor/host-array.ts';
import { contiguousStrides, elementCount, isContiguous } from '../../tensor/shape.ts';
import type { TensorDesc } from '../../tensor/tensor.ts';
import { type FormatP, type Fp8Scalars, formatPRange, fp8ScalarNames } from '../problem/fp8.ts';
import {
  isRounded,
  type Mxfp8OperandName,
  type Mxfp8RoundedName,
  type Mxfp8ScalesName,
  type Mxfp8Tensors,
  mxfp8Operands,
} from '../problem/mxfp8.ts';
import type { NearestName } from './nearest-name.ts';
import type { Fp8Options, Mxfp8Options } from './options.ts';
import { checkForms, formsOf, type OptionForm } from './schema.ts';

/**
 * The scalars as f32 tensors of one element: scalars that are numbers, or absent (1), become host arrays.
 * @throws InvalidArgumentError, InvalidShapeError or InvalidDTypeError naming the scalar.
 */
export function fp8Scalars<T extends TensorDesc>(
  given: Fp8Options<T>,
  nearestName: NearestName | null,
): Fp8Scalars<T | HostArray> {
  checkForms('fp8', given, { ...formsOf(fp8ScalarNames, 'any'), formatP: 'object' }, nearestName);
  const scalars = fp8ScalarNames.map(name => [name, scalar(`fp8.${name}`, given[name] ?? 1)] as const);
  return Object.fromEntries(scalars) as Fp8Scalars<T | HostArray>;
}

const formatPForms: Readonly<Record<keyof FormatP, OptionForm>> = { dtype: 'any', zeroPoint: 'number' };

/**
 * The format of P that a call asks for.
 * @throws InvalidDTypeError or InvalidArgumentError for an unknown format.
 */
export function fp8Format<T>(
  { formatP }: Fp8Options<T>,
  nearestName: NearestName | null,
): FormatP | undefined {
  if (formatP === undefined) return undefined;
  checkForms('fp8.formatP', formatP, formatPForms, nearestName);
  const { dtype, zeroPoint = 0 } = formatP;
  if (!Object.hasOwn(formatPRange, dtype)) {
    const dtypes = Object.keys(formatPRange).join(', ');
    throw new InvalidDTypeError('fp8.formatP', `must have a dtype of ${dtypes}, got ${String(dtype)}`);
  }
  const [least, largest] = formatPRange[dtype] ?? [0, 0];
  if (!Number.isInteger(zeroPoint) || zeroPoint < least || zeroPoint > largest) {
    const rule = `must be an integer in [${least}, ${largest}] for ${dtype}, got ${zeroPoint}`;
    throw new InvalidArgumentError('fp8.formatP.zeroPoint', rule);
  }
  return { dtype, zeroPoint };
}

function scalar<T extends TensorDesc>(argument: string, value: number | T): T | HostArray {
  if (typeof value === 'number') {
    // Also refuses numbers outside the range of f32.
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

const forwardNames: readonly Mxfp8OperandName[] = ['q', 'k', 'v'];
const backwardNames: readonly Mxfp8OperandName[] = [...forwardNames, 'qT', 'kT', 'dO8', 'dOT'];

/**
 * The tensors that a pass takes from the option `mxfp8`. `operands` are the descriptions of q, k, v and
 * (backward) dO.
 * @throws InvalidArgumentError, InvalidShapeError or InvalidDTypeError naming the tensor.
 */
export function mxfp8Tensors<T extends TensorDesc>(
  given: Mxfp8Options<T>,
  operands: Readonly<Partial<Record<'q' | 'k' | 'v' | 'dO', TensorDesc>>>,
  nearestName: NearestName | null,
): Mxfp8Tensors<T> {
  const names = backwardNames.flatMap(name => [
    ...(isRounded(name) ? [name] : []),
    mxfp8Operands[name].scales,
  ]);
  checkForms('mxfp8', given, formsOf([...names, 'layout'], 'any'), nearestName);
  const { layout = 'rows' } = given;
  checkOneOf('mxfp8.layout', layout, blockScaleLayouts);
  const tensors: Partial<Record<Mxfp8ScalesName | Mxfp8RoundedName, T>> = {};
  for (const name of operands.dO ? backwardNames : forwardNames) {
    const { scales, axis, like } = mxfp8Operands[name];
    const target = operands[like];
    if (target?.shape.length !== 4) continue;
    tensors[scales] = checked(scales, given[scales], 'u8', blockScaleShape(target.shape, axis, layout));
    if (isRounded(name)) tensors[name] = checked(name, given[name], operands.q?.dtype, target.shape);
  }
  return tensors;
}

function checked<T extends TensorDesc>(
  name: string,
  t: T | undefined,
  dtype: TensorDesc['dtype'] | undefined,
  shape: readonly number[],
): T {
  const argument = `mxfp8.${name}`;
  if (t === undefined) throw new InvalidArgumentError(argument, 'must be given');
  checkTensorOf(argument, t, shape, dtype);
  if (!isContiguous(t.shape, t.strides)) {
    const rule = `must be contiguous (strides [${contiguousStrides(shape)}]), got strides [${t.strides}]`;
    throw new InvalidShapeError(argument, rule);
  }
  return t;
}
