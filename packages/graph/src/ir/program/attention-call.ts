import {
  type AttentionProblem,
  type BackwardProblem,
  type Fp8ScalarName,
  fp8ScalarNames,
  type GradientName,
  InvalidArgumentError,
  normalise,
  normaliseBackward,
  type SdpaBackwardOptions,
  type SdpaOptions,
  type TensorDesc,
} from '@tilewise/core';
import { type Expr, modOf } from '@tilewise/core/expr';

/**
 * How attention takes an operand: as it is; as a list, whatever its shape; a page table as (B, pages), or a list when packed; one
 * number per query row without the last dimension of 1; or as a number that is read when the call is made.
 */
export type OperandForm = 'tensor' | 'list' | 'table' | 'rows' | 'number';

const raggedNames = ['q', 'k', 'v', 'o', 'dO', 'dq', 'dk', 'dv'] as const;

type PlainName =
  | 'q'
  | 'k'
  | 'v'
  | 'o'
  | 'lse'
  | 'dO'
  | 'dLse'
  | 'scale'
  | 'bias'
  | 'mask'
  | 'blockMask'
  | 'alibi'
  | 'sink'
  | 'seqLensQ'
  | 'seqLensKv'
  | 'cuSeqLensQ'
  | 'cuSeqLensKv'
  | 'pageTableK'
  | 'pageTableV'
  | 'cuPagesK'
  | 'cuPagesV'
  | 'dropout.mask'
  | 'dropout.scale'
  | 'dropout.seed'
  | 'dropout.offset';

type GroupedName = `raggedOffsets.${(typeof raggedNames)[number]}` | `fp8.${Fp8ScalarName}`;

/** An operand of an attention operation, by the option that it is, as `dropout.seed`; what a score mod loads from as `captures.t`. */
export type OperandName = PlainName | GroupedName | `captures.${string}`;

const plainForms: Readonly<Record<PlainName, OperandForm>> = {
  ...{ q: 'tensor', k: 'tensor', v: 'tensor', o: 'tensor', lse: 'rows', dO: 'tensor', dLse: 'rows' },
  ...{ scale: 'number', bias: 'tensor', mask: 'tensor', blockMask: 'tensor', alibi: 'list', sink: 'list' },
  ...{ seqLensQ: 'list', seqLensKv: 'list', cuSeqLensQ: 'list', cuSeqLensKv: 'list' },
  ...{ pageTableK: 'table', pageTableV: 'table', cuPagesK: 'list', cuPagesV: 'list' },
  ...{ 'dropout.mask': 'tensor', 'dropout.scale': 'number' },
  ...{ 'dropout.seed': 'number', 'dropout.offset': 'number' },
};

/** Every operand of an attention operation but captures. */
export const operandForms: Readonly<Record<PlainName | GroupedName, OperandForm>> = {
  ...plainForms,
  ...(Object.fromEntries([
    ...raggedNames.map(name => [`raggedOffsets.${name}`, 'list']),
    ...fp8ScalarNames.map(name => [`fp8.${name}`, 'list']),
  ]) as Record<GroupedName, OperandForm>),
};

/** The form of an operand; undefined for a name that is none. */
export function operandForm(name: string): OperandForm | undefined {
  if (/^captures\.\w+$/.test(name)) return 'tensor';
  return Object.hasOwn(operandForms, name) ? operandForms[name as PlainName] : undefined;
}

/** What is said of a call in numbers and names, by the options that they are. */
export interface CallSettings {
  readonly scale?: number;
  readonly softcap?: number;
  readonly window?: SdpaOptions['window'];
  /** The standard slopes. */
  readonly alibi?: boolean;
  /** An expression of (score, b, h, q, kv) that replaces the score. */
  readonly scoreMod?: Expr;
  /** Probability to drop, with a drawn mask. */
  readonly p?: number;
  readonly maxSeqLenQ?: number;
  readonly maxSeqLenKv?: number;
}

/** A call of the engine's attention with all that it takes, on values by the names of operands and results. */
export interface AttentionCallStep {
  readonly kind: 'attention-call';
  readonly pass: 'forward' | 'backward';
  /** By their `OperandName`. */
  readonly operands: Readonly<Record<string, number>>;
  readonly settings: CallSettings;
  /** By the names that `SdpaResult` and `SdpaGradients` give them. */
  readonly results: Readonly<Record<string, number>>;
  /** The list that kernels of 8-bit arithmetic read and write, where the step is for them. */
  readonly fp8List?: number;
}

/** Where the operands of a call are. */
export interface OperandSource<T> {
  tensor(name: OperandName): T;
  /** The number of an operand of that form: 64 bits where it is a seed or an offset. */
  number(name: OperandName): number | bigint;
}

const inputNames: readonly string[] = ['q', 'k', 'v', 'o', 'lse', 'dO', 'dLse'];

/** The options of a call, beside the tensors that it is about. */
export function callOptions<T extends TensorDesc>(
  names: readonly OperandName[],
  { alibi, p, scoreMod, ...settings }: CallSettings,
  source: OperandSource<T>,
): SdpaOptions<T> & Pick<SdpaBackwardOptions<T>, 'raggedOffsets'> {
  const groups: Record<string, Record<string, unknown>> = {};
  const options: Record<string, unknown> = { ...settings, ...(alibi && { alibi }) };
  for (const name of names) {
    if (inputNames.includes(name)) continue;
    const value = operandForm(name) === 'number' ? source.number(name) : source.tensor(name);
    const [group, member] = name.split('.');
    if (member === undefined) options[group] = value;
    else groups[group] = { ...groups[group], [member]: value };
  }
  // A mask that both passes, and the same dropout written as operations, draw alike.
  if (p !== undefined) groups.dropout = { ...groups.dropout, p, scheme: 'onednn' };
  const { captures, ...others } = groups;
  return {
    ...options,
    ...others,
    ...(scoreMod && { scoreMod: modOf<T>(scoreMod, captures as Readonly<Record<string, T>> | undefined) }),
  };
}

/** The gradients that a backward call may give. */
export const gradientNames: readonly GradientName[] = ['dq', 'dk', 'dv', 'dbias', 'dsink', 'dAlibi'];

/**
 * The problem of a call, its numbers being stood in for: no engine depends on them.
 * @throws InvalidArgumentError, InvalidShapeError or InvalidDTypeError, naming the operand.
 */
export function callProblem(
  { pass, operands, settings, results }: AttentionCallStep,
  desc: (value: number) => TensorDesc,
): AttentionProblem | BackwardProblem {
  const tensor = (name: OperandName): TensorDesc => {
    const value = operands[name];
    if (value === undefined) throw new InvalidArgumentError(name, 'is no operand of the attention operation');
    return desc(value);
  };
  const options = callOptions(Object.keys(operands) as OperandName[], settings, {
    tensor,
    number: name => (name.startsWith('dropout.') && name !== 'dropout.scale' ? 0n : 1),
  });
  const inputs = { q: tensor('q'), k: tensor('k'), v: tensor('v') };
  if (pass === 'forward') {
    const outDType = results.o === undefined ? inputs.q.dtype : desc(results.o).dtype;
    return normalise(inputs, { ...options, outDType }).problem;
  }
  const gradients = gradientNames.filter(name => results[name] !== undefined);
  return normaliseBackward(
    { ...inputs, o: tensor('o'), lse: tensor('lse'), dO: tensor('dO') },
    { ...options, gradients },
  ).problem;
}
