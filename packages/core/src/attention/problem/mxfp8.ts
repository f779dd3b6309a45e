import type { BlockAxis } from '../../mxfp8/block-scales.ts';

/**
 * An operand in MXFP8: the name of its scales, the axis of its blocks, and the operand of which it is a
 * rounding.
 */
export interface Mxfp8Operand {
  /** The name of its scales in the option `mxfp8`. */
  readonly scales: Mxfp8ScalesName;
  /** Which 32 neighbours share a scale. */
  readonly axis: BlockAxis;
  /** The operand that it rounds, which has the same shape. */
  readonly like: 'q' | 'k' | 'v' | 'dO';
  /** Whether the option gives the tensor; q, k and v are the operands themselves. */
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

/** The quantised operands that only backward takes. */
export type Mxfp8RoundedName = 'qT' | 'kT' | 'dO8' | 'dOT';

/** The scales of the quantised operands. */
export type Mxfp8ScalesName = `descale${'Q' | 'K' | 'V' | 'QT' | 'KT' | 'DO' | 'DOT'}`;

/** The tensors of the option `mxfp8`, by name; forward uses only the scales of q, k and v. */
export type Mxfp8Tensors<T> = Readonly<Partial<Record<Mxfp8ScalesName | Mxfp8RoundedName, T | undefined>>>;

/** Whether the option gives the operand, which is true of all but q, k and v. */
export function isRounded(name: Mxfp8OperandName): name is Mxfp8RoundedName {
  return mxfp8Operands[name].given;
}
