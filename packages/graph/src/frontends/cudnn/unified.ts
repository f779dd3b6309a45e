import { flatten } from '@tilewise/core/expr';
import type { Graph } from '../../graph.ts';
import { operandNames } from '../../ir/program/attention-call.ts';
import type { AttributeValue } from '../../ir/schema/attribute.ts';
import { omitUndefined } from '../../ir/schema/omit-undefined.ts';
import type { GraphDType } from '../../ir/tensor/dtype.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { isTensor, type ScoreProgram } from './arguments/arguments.ts';
import type { CudnnOptions } from './arguments/options.ts';
import { type ScoreExpression, scoreExpression } from './score-expression.ts';

/** The parts of an attention operation. */
export interface UnifiedNode {
  readonly kind: 'Sdpa' | 'SdpaBackward';
  readonly name?: string | undefined;
  /** q, k and v, and for backward also o, lse and dO. */
  readonly inputs: Readonly<Record<string, LogicalTensor>>;
  readonly options: CudnnOptions<LogicalTensor, LogicalTensor>;
  readonly scoreMod?: ScoreProgram | undefined;
  /** The wanted results, and the dtype of each. */
  readonly results: Readonly<Record<string, GraphDType>>;
}

/** Adds one attention operation to a graph and returns its results by name. */
export function addUnified(
  graph: Graph,
  { kind, name, inputs, options, scoreMod, results }: UnifiedNode,
): Readonly<Record<string, LogicalTensor>> {
  const program = scoreMod && scoreExpression(graph, scoreMod);
  const operands = new Map<string, LogicalTensor>(Object.entries(inputs));
  for (const option of operandNames) {
    const value = optionAt(options, option);
    if (isTensor(value) && !operands.has(option)) operands.set(option, value);
  }
  for (const [capture, tensor] of Object.entries(program?.captures ?? {}))
    operands.set(`captures.${capture}`, tensor);
  const outputs = Object.entries(results).map(
    ([result, dtype]) => [result, graph.tensor({ dtype })] as const,
  );
  graph.op(kind, {
    ...(name !== undefined && { name }),
    attrs: {
      operands: [...operands.keys()].join(' '),
      results: outputs.map(([result]) => result).join(' '),
      ...settingAttributes(options, program),
    },
    inputs: [...operands.values()],
    outputs: outputs.map(([, tensor]) => tensor),
  });
  return Object.fromEntries(outputs);
}

/** An option by its path, such as `dropout.seed`. */
function optionAt(options: object, path: string): unknown {
  return path.split('.').reduce<unknown>((at, key) => Object(at)[key], options);
}

/** The options that are numbers or names, as attributes of the operation. */
function settingAttributes(
  { scale, window, alibi, dropout, maxSeqLenQ, maxSeqLenKv }: UnifiedNode['options'],
  program: ScoreExpression | undefined,
): Readonly<Record<string, AttributeValue | undefined>> {
  return omitUndefined({
    scale: typeof scale === 'number' ? scale : undefined,
    left: window?.left,
    right: window?.right,
    align: window?.align,
    alibi: alibi === true ? true : undefined,
    p: dropout && 'p' in dropout ? dropout.p : undefined,
    max_seq_len_q: maxSeqLenQ,
    max_seq_len_kv: maxSeqLenKv,
    score_mod: program && JSON.stringify(flatten(program.expr)),
  });
}
