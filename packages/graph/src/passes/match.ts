import type { GraphNode } from '../ir/node.ts';
import type { Topology } from '../ir/topology.ts';
import type { BackwardMatch } from './attention/backward.ts';
import type { ForwardParts } from './attention/forward.ts';
import type { IsFree } from './fuse/fuse.ts';

/** What operations were recognised as: a pass of attention, or one operation that is attention. */
export type AttentionForm =
  | { readonly pass: 'forward'; readonly parts: ForwardParts }
  | { readonly pass: 'backward'; readonly parts: BackwardMatch }
  | { readonly pass: 'operation'; readonly node: GraphNode };

/** Operations that run as one unit. */
export interface Match {
  /** The kind of the partition. */
  readonly kind: string;
  readonly nodes: ReadonlySet<GraphNode>;
  /** The attention call that the operations become; null for operations that run one by one. */
  readonly form: AttentionForm | null;
}

/**
 * Recognises the match that an operation is the anchor of; null if there is none. An operation that is not
 * free belongs to another match, and the pattern leaves it out if possible.
 */
export type Pattern = (anchor: GraphNode, topology: Topology, isFree: IsFree) => Match | null;
