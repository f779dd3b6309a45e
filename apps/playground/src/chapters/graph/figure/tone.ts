import type { Partition } from '@tilewise/graph';

/** How a partition runs, which decides its colour. */
export type Tone = 'attention' | 'fused' | 'single';

/** Attention is one kernel; other operations may run together or one by one. */
export function toneOf({ kind, ops }: Partition): Tone {
  if (kind.includes('sdpa')) return 'attention';
  return ops.length > 1 ? 'fused' : 'single';
}
