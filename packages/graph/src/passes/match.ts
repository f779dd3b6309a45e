import type { GraphNode } from '../ir/node.ts';
import type { Topology } from '../ir/topology.ts';
import type { BackwardMatch } from './attention/backward.ts';
import type { ForwardParts } from './attention/forward.ts';
import type { IsFree } from './fuse/fuse.ts';

/** What operations are recognised as: a pass of attention, or one operation that is attention. */
export type AttentionForm =
  | { readonly pass: 'forward'; readonly parts: ForwardParts }
  | { readonly pass: 'backward'; readonly parts: BackwardMatch }
  | { readonly pass: 'operation'; readonly node: GraphNode };

/** Operations that run as one. */
export interface Match {
  /** The kind of the partition that they become. */
  readonly kind: string;
  readonly nodes: ReadonlySet<GraphNode>;
  /** What runs as one attention call; null for what runs as its operations one after the other. */
  readonly form: AttentionForm | null;
}

/**
 * Looks whether an operation is the anchor of something that is known; null when not. What is not free
 * belongs to something else already: a pattern that could do without it leaves it out.
 */
export type Pattern = (anchor: GraphNode, topology: Topology, isFree: IsFree) => Match | null;
