import { attentionNames } from '../ops/attention/names.ts';
import { backwardMatch } from './attention/backward.ts';
import { forwardParts } from './attention/forward.ts';
import type { Pattern } from './match.ts';
import { computedPostOperations, postOperations } from './post-operations.ts';

/** The backward pass of attention. */
const attentionBackward: Pattern = (anchor, topology) => {
  const parts = backwardMatch(anchor, topology);
  return parts && { kind: 'sdpa-backward', nodes: parts.all, form: { pass: 'backward', parts } };
};

/** The forward pass of attention. */
const attentionForward: Pattern = (anchor, topology) => {
  const parts = forwardParts(anchor, topology);
  if (!parts) return null;
  const kind = parts.softmax.stats === undefined ? 'sdpa' : 'sdpa-training';
  return {
    kind: parts.after.rounding ? 'quantized-sdpa' : kind,
    nodes: parts.nodes,
    form: { pass: 'forward', parts },
  };
};

/**
 * Attention as one operation, `Sdpa` or `SdpaBackward`. The partition has the same kind as recognised
 * separate operations.
 */
const attentionOperation: Pattern = anchor => {
  const { kind, attributes } = anchor;
  if (kind !== 'Sdpa' && kind !== 'SdpaBackward') return null;
  const hasStats = attentionNames(attributes).results.includes('lse');
  return {
    kind: kind === 'SdpaBackward' ? 'sdpa-backward' : hasStats ? 'sdpa-training' : 'sdpa',
    nodes: new Set([anchor]),
    form: { pass: 'operation', node: anchor },
  };
};

/** All patterns, in the order in which they are tried. */
export const patterns: readonly Pattern[] = [
  attentionBackward,
  attentionForward,
  attentionOperation,
  computedPostOperations,
  postOperations,
];
