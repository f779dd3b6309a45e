import type { GraphNode } from '../graph/node.ts';
import type { Topology } from '../graph/topology.ts';
import type { Match } from '../partition/match.ts';

/**
 * Looks whether an operation is the anchor of something that is known; null when not. What is not free belongs to something else
 * already: a pattern that could do without it leaves it out.
 */
export type Pattern = (anchor: GraphNode, topology: Topology, isFree: IsFree) => Match | null;

/** Whether an operation belongs to no match yet. */
export type IsFree = (node: GraphNode) => boolean;
