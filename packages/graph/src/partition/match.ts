import type { TensorDesc } from '@tilewise/core';
import type { GraphNode } from '../graph/node.ts';
import type { Value } from '../lowering/lowering.ts';
import type { ProgramBuilder } from '../lowering/program-builder.ts';
import type { LogicalTensor } from '../tensor/logical-tensor.ts';

/** What a match writes its program with. */
export interface MatchLowering {
  readonly builder: ProgramBuilder;
  /** The value of a tensor that enters the match, or was written. */
  value(tensor: number): Value;
  /** The value that a tensor of the match is written to: what leaves it, or a temporary. */
  result(tensor: number): Value;
  /** A tensor of the match with its shape. */
  tensor(tensor: number): LogicalTensor;
  /** How a tensor of the match looks, also one that is never there. */
  desc(tensor: number): TensorDesc;
}

/** Operations that run as one. */
export interface Match {
  /** The kind of the partition that they become. */
  readonly kind: string;
  readonly nodes: ReadonlySet<GraphNode>;
  /**
   * Writes them as an attention call, now that shapes are known. Null for what runs as its operations one after the other; else
   * why it must, or that it was written.
   */
  readonly lower: ((lowering: MatchLowering) => 'written' | { readonly reason: string }) | null;
}
