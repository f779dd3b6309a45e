import type { Attributes } from '../../ir/schema/attribute.ts';

const namesIn = (list: unknown): readonly string[] => (typeof list === 'string' ? list.split(' ') : []);

/** The names of an attention operation's inputs and outputs, in the order of its tensors. */
export function attentionNames({ operands, results }: Partial<Attributes>): {
  readonly operands: readonly string[];
  readonly results: readonly string[];
} {
  return { operands: namesIn(operands), results: namesIn(results) };
}
