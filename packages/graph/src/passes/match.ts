import type { GraphNode } from '../ir/node.ts';
import type { Topology } from '../ir/topology.ts';
import type { BackwardMatch } from './attention/backward.ts';
import type { ForwardParts } from './attention/forward.ts';
import type { IsFree } from './fuse/fuse.ts';

/** The form in which operations are recognised: a pass of attention, or one operation that is attention. */
export type AttentionForm =
  | { readonly pass: 'forward'; readonly parts: ForwardParts }
  | { readonly pass: 'backward'; readonly parts: BackwardMatch }
  | { readonly pass: 'operation'; readonly node: GraphNode };

/** Operations that run as one. */
export interface Match {
  /** The kind of the partition. */
  readonly kind: string;
  readonly nodes: ReadonlySet<GraphNode>;
  /** The attention call that the operations become; null for operations that run one after the other. */
  readonly form: AttentionForm | null;
}

/**
 * Recognises what an operation is the anchor of; null for nothing. An operation that is not free belongs to
 * another match, and the pattern leaves it out where it can.
 */
export type Pattern = (anchor: GraphNode, topology: Topology, isFree: IsFree) => Match | null;
