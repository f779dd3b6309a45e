import type { OperandName } from '../../ir/program/attention-call.ts';
import type { Attributes } from '../../ir/schema/attribute.ts';

const namesIn = (list: unknown): string[] => (typeof list === 'string' ? list.split(' ') : []);

/** Names of the inputs and of the outputs of an attention operation, in their order. */
export function attentionNames({ operands, results }: Attributes): {
  readonly operands: readonly OperandName[];
  readonly results: readonly string[];
} {
  return { operands: namesIn(operands) as OperandName[], results: namesIn(results) };
}
