import type { SdpaOptions, TensorDesc } from '@tilewise/core';
import { checkedMod } from '@tilewise/core/expr';
import { attentionOptions } from '../../../compile/attention/options.ts';
import type { AttentionCallStep } from '../../../ir/program/attention-call.ts';
import type { SdpaStep } from '../../../ir/program/attention-step.ts';
import type { ProgramWriter } from '../program-writer.ts';
import { ExportError } from '../tensors/axes.ts';
import { literal } from '../tensors/expression.ts';

/** A value of a program that is an option of attention. */
export interface Operand extends TensorDesc {
  readonly index: number;
}

/** The dropout of attention: drawn from a seed, or given by a mask. */
export interface DropoutCode {
  readonly drawn?: string;
  /** The system whose masks are drawn. Default: oneDNN. */
  readonly scheme?: string | undefined;
  readonly keep?: number;
  readonly factor?: string;
}

/** Attention in the terms of the Python module `attention`. */
export interface AttentionForm {
  readonly options: SdpaOptions<Operand>;
  readonly dropout: DropoutCode;
  /** A scale that is known only when the model runs. */
  readonly scale?: string;
}

/** Thrown if an option depends on a number that is not known when the model is written. */
class UnknownNumber extends Error {}

const supported: ReadonlySet<string> = new Set([
  ...['scale', 'causal', 'window', 'mask', 'bias', 'alibi', 'softcap', 'scoreMod', 'maskMod', 'sink'],
  ...['seqLensQ', 'seqLensKv', 'blockMask', 'maxSeqLenQ', 'maxSeqLenKv'],
]);

/** The tensors of attention that are not options. */
const tensors: ReadonlySet<string> = new Set(['q', 'k', 'v', 'o', 'lse', 'dO', 'dLse']);

/** The form of attention that was recognised in operations. */
export function formOfStep(writer: ProgramWriter, { q, k, options }: SdpaStep): AttentionForm {
  const { dropout, rounding, ...rest } = options;
  if (rounding) throw new ExportError('rounds probabilities to 8 bits');
  const [Sq, Skv] = [q, k].map(n => writer.desc(n).shape[2]);
  const made = (step: typeof rest, numbers: (value: number) => Float64Array): SdpaOptions<Operand> => {
    const tensor = (index: number): Operand => ({ ...writer.desc(index), index });
    return attentionOptions<Operand>(step, { Sq, Skv }, { tensor, numbers }) as SdpaOptions<Operand>;
  };
  const p =
    dropout &&
    (typeof dropout.p === 'number' ? literal(dropout.p).code : writer.number(dropout.p.value, 'float'));
  const drawn = dropout && p !== undefined ? { drawn: drawing(writer, p, dropout.seed, dropout.offset) } : {};
  try {
    const numbers = (index: number): Float64Array => {
      const { value } = writer.read(index);
      if (value === undefined) throw new UnknownNumber();
      return Float64Array.of(value);
    };
    return { options: made(rest, numbers), dropout: drawn };
  } catch (error) {
    if (!(error instanceof UnknownNumber)) throw error;
    // Then the options become a score program, which reads the number when the model runs.
    return { options: made({ ...rest, options: null }, () => new Float64Array(1)), dropout: drawn };
  }
}

/** The form of attention from one operation. */
export function formOfCall(writer: ProgramWriter, { operands, settings }: AttentionCallStep): AttentionForm {
  const { p, scheme, scoreMod, ...others } = settings;
  const given: Record<string, Operand> = {};
  const captures: Record<string, Operand> = {};
  for (const [name, index] of Object.entries(operands)) {
    const operand = { ...writer.desc(index), index };
    if (name.startsWith('captures.')) captures[name.slice('captures.'.length)] = operand;
    else if (!tensors.has(name) && !name.startsWith('dropout.') && name !== 'scale') given[name] = operand;
  }
  const options: SdpaOptions<Operand> = {
    ...others,
    ...given,
    ...(scoreMod && { scoreMod: checkedMod(scoreMod, captures) }),
  };
  const unknown = Object.entries(options).find(
    ([name, value]) => value !== undefined && !supported.has(name),
  );
  if (unknown)
    throw new ExportError(`has the option '${unknown[0]}', which the exported attention does not have`);
  return {
    options,
    dropout: dropoutOf(writer, operands, p, scheme),
    ...(operands.scale !== undefined && { scale: writer.number(operands.scale, 'float') }),
  };
}

function dropoutOf(
  writer: ProgramWriter,
  operands: Readonly<Record<string, number>>,
  p: number | undefined,
  scheme = 'onednn',
): DropoutCode {
  const mask = operands['dropout.mask'];
  if (mask !== undefined) {
    const scale = operands['dropout.scale'];
    const given = p === undefined ? '1.0' : literal(1 / (1 - p)).code;
    return { keep: mask, factor: scale === undefined ? given : writer.number(scale, 'float') };
  }
  const seed = operands['dropout.seed'];
  if (p === undefined || seed === undefined) return {};
  const { dropoutSchemes, library } = writer.lines.dialect;
  if (!dropoutSchemes.includes(scheme))
    throw new ExportError(`has the dropout scheme '${scheme}', which is not exported to ${library}`);
  return { drawn: drawing(writer, literal(p).code, seed, operands['dropout.offset'], scheme), scheme };
}

function drawing(
  writer: ProgramWriter,
  p: string,
  seed: number,
  offset: number | undefined,
  scheme = 'onednn',
): string {
  const at = offset === undefined ? '0' : writer.number(offset, 'int');
  const other = scheme === 'onednn' ? '' : `, "${scheme}"`;
  return `Dropout(${p}, ${writer.number(seed, 'int')}, ${at}${other})`;
}
