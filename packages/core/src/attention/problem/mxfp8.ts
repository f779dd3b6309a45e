import { InvalidArgumentError, InvalidDTypeError, InvalidShapeError } from '../../errors.ts';
import { type BlockAxis, blockScaleShape } from '../../mxfp8/block-scales.ts';
import { contiguousStrides, isContiguous, sameShape } from '../../tensor/shape.ts';
import type { TensorDesc } from '../../tensor/tensor.ts';
import type { Mxfp8Options } from '../options/options.ts';
import { checkForms, type OptionForm } from '../options/schema.ts';
import { checkTensor } from './describe.ts';

/** An operand in MXFP8: the name of its scales, the axis that they run along, and the operand that it is another rounding of. */
export interface Mxfp8Operand {
  readonly scales: Mxfp8ScalesName;
  readonly axis: BlockAxis;
  readonly like: 'q' | 'k' | 'v' | 'dO';
  /** Given in the option; q, k and v are the operands themselves. */
  readonly given: boolean;
}

/** The quantised operands by name: forward takes the first three, backward all. */
export const mxfp8Operands: Readonly<Record<Mxfp8OperandName, Mxfp8Operand>> = {
  q: { scales: 'descaleQ', axis: 'channels', like: 'q', given: false },
  k: { scales: 'descaleK', axis: 'channels', like: 'k', given: false },
  v: { scales: 'descaleV', axis: 'positions', like: 'v', given: false },
  qT: { scales: 'descaleQT', axis: 'positions', like: 'q', given: true },
  kT: { scales: 'descaleKT', axis: 'positions', like: 'k', given: true },
  dO8: { scales: 'descaleDO', axis: 'channels', like: 'dO', given: true },
  dOT: { scales: 'descaleDOT', axis: 'positions', like: 'dO', given: true },
};

/** One of the quantised operands. */
export type Mxfp8OperandName = 'q' | 'k' | 'v' | 'qT' | 'kT' | 'dO8' | 'dOT';

/** Those that only backward takes. */
export type Mxfp8RoundedName = 'qT' | 'kT' | 'dO8' | 'dOT';

/** The scales of each. */
export type Mxfp8ScalesName =
  | 'descaleQ'
  | 'descaleK'
  | 'descaleV'
  | 'descaleQT'
  | 'descaleKT'
  | 'descaleDO'
  | 'descaleDOT';

/** The tensors of the option by name, checked; forward has no more than the scales of q, k and v. */
export type Mxfp8Tensors<T> = Readonly<Partial<Record<Mxfp8ScalesName | Mxfp8RoundedName, T>>>;

const forwardNames: readonly Mxfp8OperandName[] = ['q', 'k', 'v'];
const backwardNames: readonly Mxfp8OperandName[] = [...forwardNames, 'qT', 'kT', 'dO8', 'dOT'];

const mxfp8Forms: Readonly<Record<keyof Mxfp8Options, OptionForm>> = {
  descaleQ: 'any',
  descaleK: 'any',
  descaleV: 'any',
  qT: 'any',
  descaleQT: 'any',
  kT: 'any',
  descaleKT: 'any',
  dO8: 'any',
  descaleDO: 'any',
  dOT: 'any',
  descaleDOT: 'any',
  layout: 'any',
};

/**
 * The tensors that a pass takes from the option. `operands` are the descriptions of q, k, v and (backward) dO.
 * @throws InvalidArgumentError, InvalidShapeError or InvalidDTypeError naming the tensor.
 */
export function mxfp8Tensors<T extends TensorDesc>(
  given: Mxfp8Options<T>,
  operands: Readonly<Partial<Record<'q' | 'k' | 'v' | 'dO', TensorDesc>>>,
): Mxfp8Tensors<T> {
  checkForms('mxfp8', given, mxfp8Forms);
  const { layout = 'rows' } = given;
  if (layout !== 'rows' && layout !== 'F8_128x4')
    throw new InvalidArgumentError('mxfp8.layout', `must be 'rows' or 'F8_128x4', got ${String(layout)}`);
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

/** Whether an operand is given in the option: q, k and v are not. */
export function isRounded(name: Mxfp8OperandName): name is Mxfp8RoundedName {
  return mxfp8Operands[name].given;
}

function checked<T extends TensorDesc>(
  name: string,
  t: T | undefined,
  dtype: TensorDesc['dtype'] | undefined,
  shape: readonly number[],
): T {
  const argument = `mxfp8.${name}`;
  if (t === undefined) throw new InvalidArgumentError(argument, 'must be given');
  checkTensor(argument, t);
  if (!sameShape(t.shape, shape))
    throw new InvalidShapeError(argument, `must have shape [${shape}], got [${t.shape}]`);
  if (t.dtype !== dtype) throw new InvalidDTypeError(argument, `must be ${dtype}, got ${t.dtype}`);
  if (!isContiguous(t.shape, t.strides)) {
    throw new InvalidShapeError(
      argument,
      `must be contiguous (strides [${contiguousStrides(shape)}]), got strides [${t.strides}]`,
    );
  }
  return t;
}
