import { attentionBackward } from './attention-backward.ts';
import { attentionForward } from './attention-forward.ts';
import { attentionOperation } from './attention-operation.ts';
import type { Pattern } from './pattern.ts';
import { computedPostOperations, postOperations } from './post-operations.ts';

/** Every pattern, the one that is tried first coming first. */
export const patterns: readonly Pattern[] = [
  attentionBackward,
  attentionForward,
  attentionOperation,
  computedPostOperations,
  postOperations,
];
