import type { GraphNode } from '../graph/node.ts';
import type { Topology } from '../graph/topology.ts';
import type { Match } from '../partition/match.ts';

/** Looks whether an operation is the anchor of something that is known; null when not. */
export type Pattern = (anchor: GraphNode, topology: Topology) => Match | null;
