import type { TensorDesc } from '@tilewise/core';
import type { GraphNode } from '../graph/node.ts';
import type { Value } from '../lowering/lowering.ts';
import type { ProgramBuilder } from '../lowering/program-builder.ts';

/** What a match writes its program with. */
export interface MatchLowering {
  readonly builder: ProgramBuilder;
  /** The value of a tensor that enters or leaves the match. */
  value(tensor: number): Value;
  /** How a tensor of the match looks, also one that is never there. */
  desc(tensor: number): TensorDesc;
}

/** Operations that run as one. */
export interface Match {
  /** The kind of the partition that they become. */
  readonly kind: string;
  readonly nodes: ReadonlySet<GraphNode>;
  /**
   * Writes them as steps, now that shapes are known; false when they cannot run as one for these shapes, in which case nothing was
   * written.
   */
  readonly lower: (lowering: MatchLowering) => boolean;
}
