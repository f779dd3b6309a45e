import type { GraphNode } from '../graph/node.ts';
import { attentionNames } from '../operations/attention-names.ts';
import type { Match } from '../partition/match.ts';

/** Attention that is written as one operation, `Sdpa` or `SdpaBackward`: a partition of the kind that its operations would be. */
export function attentionOperation(anchor: GraphNode): Match | null {
  const { kind, attributes } = anchor;
  if (kind !== 'Sdpa' && kind !== 'SdpaBackward') return null;
  const hasStats = attentionNames(attributes).results.includes('lse');
  return {
    kind: kind === 'SdpaBackward' ? 'sdpa-backward' : hasStats ? 'sdpa-training' : 'sdpa',
    nodes: new Set([anchor]),
    lower: ({ builder, value, result, tensor }) => {
      const call = {
        attributes,
        inputs: anchor.inputs.map(t => tensor(t.id)),
        outputs: anchor.outputs.map(t => tensor(t.id)),
      };
      const inputs = anchor.inputs.map(t => value(t.id));
      const outputs = anchor.outputs.map(t => result(t.id));
      anchor.operation.lower?.(builder.lowering(call, inputs, outputs));
      return 'written';
    },
  };
}
