import type { DropoutSchemeName, GradientName, SdpaOptions } from '@tilewise/core';
import { fp8OperandTable, type OperandForm, type OperandRow, operandTable } from '@tilewise/core/engine';
import type { Expr } from '@tilewise/core/expr';

/** A direction of attention. */
export type AttentionPass = 'forward' | 'backward';

const rows = Object.entries<OperandRow>({ ...operandTable, ...fp8OperandTable });

/**
 * The form in which a call takes each operand, by the operand's path in the options, such as `dropout.seed`.
 */
const operandForms: Readonly<Record<string, OperandForm>> = Object.fromEntries(
  rows.flatMap(([name, row]) =>
    row.forward === 'read' || row.backward === 'read' ? [[row.option ?? name, row.form]] : [],
  ),
);

/** The names of all operands except captures, whose names are `captures.NAME`. */
export const operandNames: readonly string[] = Object.keys(operandForms);

/** The form in which a call takes an operand; undefined for an unknown name. */
export function operandForm(name: string): OperandForm | undefined {
  if (/^captures\.\w+$/.test(name)) return 'tensor';
  return Object.hasOwn(operandForms, name) ? operandForms[name] : undefined;
}

const written = (pass: AttentionPass): readonly string[] =>
  rows.flatMap(([name, row]) => (row[pass] === 'write' ? [name.replace('outputs.', '')] : []));

/** The names of the results of each pass. */
export const resultNames: Readonly<Record<AttentionPass, readonly string[]>> = {
  forward: written('forward'),
  backward: written('backward'),
};

/** The options of a call that are numbers or names. */
export interface CallSettings {
  readonly scale?: number;
  readonly softcap?: number;
  readonly window?: SdpaOptions['window'];
  /** Whether ALiBi with the standard slopes is added. */
  readonly alibi?: boolean;
  /** An expression of (score, b, h, q, kv) that replaces the score. */
  readonly scoreMod?: Expr;
  /** The dropout probability, if Philox draws the mask. */
  readonly p?: number;
  /** The system whose masks are drawn. Default: oneDNN. */
  readonly scheme?: DropoutSchemeName;
  readonly maxSeqLenQ?: number;
  readonly maxSeqLenKv?: number;
}

/** An attention call of the engine on values, which are listed by the names of operands and results. */
export interface AttentionCallStep {
  readonly kind: 'attention-call';
  readonly pass: AttentionPass;
  /** Value indices by the names of operands. */
  readonly operands: Readonly<Record<string, number>>;
  readonly settings: CallSettings;
  /** Value indices by the names in `SdpaResult` and `SdpaGradients`. */
  readonly results: Readonly<Record<string, number>>;
  /** The value that holds the scalar list of FP8 kernels, if the step uses these kernels. */
  readonly fp8List?: number;
}

/** The gradients that a backward call can return. */
export const gradientNames: readonly GradientName[] = ['dq', 'dk', 'dv', 'dbias', 'dsink', 'dAlibi'];
