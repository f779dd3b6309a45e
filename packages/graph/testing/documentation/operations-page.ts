import type { AttributeSchema } from '../../src/ir/schema/attribute.ts';
import type { Operation } from '../../src/ir/schema/operation.ts';
import type { PortSchema } from '../../src/ir/schema/ports.ts';
import { operations } from '../../src/ops/table.ts';
import { summaries } from './summaries.ts';

/** The documentation page of all operations, from the table that checks and runs them. */
export function operationsPage(): string {
  const sorted = [...operations].sort((a, b) => (a.kind < b.kind ? -1 : 1));
  return [
    '# Operations',
    '',
    'Generated from the definitions in `src/ops` by `vitest -u`. Tensors with the same letter have the same dtype.',
    '',
    ...sorted.flatMap(section),
  ].join('\n');
}

function section({ kind, inputs, outputs, attributes }: Operation): string[] {
  const rows = Object.entries(attributes).map(attributeRow);
  return [
    `## ${kind}`,
    '',
    summaries.get(kind) ?? '',
    '',
    `- inputs: ${inputs.map(portText).join('; ') || 'none'}`,
    `- outputs: ${outputs.map(portText).join('; ') || 'none'}`,
    ...rows,
    '',
  ];
}

function portText({ name, type, among, optional, variadic }: PortSchema): string {
  const count = variadic ? ' (any number)' : optional ? ' (optional)' : '';
  return `\`${name}\`${count}: ${type ? `${type} of` : 'each of'} ${among.join(', ')}`;
}

function attributeRow([name, { type, required, among, default: standard }]: [
  string,
  AttributeSchema,
]): string {
  const values = among ? ` of ${among.map(value => `\`${value}\``).join(', ')}` : '';
  const presence = required
    ? 'required'
    : standard === undefined
      ? 'optional'
      : `default \`${JSON.stringify(standard)}\``;
  return `- attribute \`${name}\`: ${type}${values}, ${presence}`;
}
