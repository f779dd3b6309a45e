import { describeValue, InvalidArgumentError } from '@tilewise/core';
import type { GraphNode } from '../ir/node.ts';
import { postOrder } from '../ir/post-order.ts';
import { producersOf, type Topology } from '../ir/topology.ts';
import type { Match } from '../passes/match.ts';
import { patterns } from '../passes/patterns.ts';

/** `fusion`: operations that a pattern recognises run as one. `debug`: each operation runs alone. */
export type PartitionPolicy = 'fusion' | 'debug';

/** Operations that run together, and the pattern that they match. */
export interface OperationGroup {
  readonly nodes: readonly GraphNode[];
  readonly match: Match | null;
}

/**
 * Divides the operations of a graph into groups, each after those whose results it needs.
 * @throws InvalidArgumentError for an unknown policy.
 */
export function groupOperations(topology: Topology, policy: PartitionPolicy): OperationGroup[] {
  if (policy !== 'fusion' && policy !== 'debug') {
    throw new InvalidArgumentError('policy', `must be 'fusion' or 'debug', got ${describeValue(policy)}`);
  }
  const groups = new Groups(topology);
  if (policy === 'fusion') {
    for (const pattern of patterns) {
      for (const node of topology.order) {
        if (groups.matchOf(node)) continue;
        const match = pattern(node, topology, other => !groups.matchOf(other));
        if (match && groups.canClaim(match)) groups.claim(match);
      }
    }
  }
  return groups.inOrder();
}

/** The groups that have been formed so far. */
class Groups {
  readonly #topology: Topology;
  readonly #claimed = new Map<GraphNode, Match>();
  /** The index of each operation in the topological order. */
  readonly #places: ReadonlyMap<GraphNode, number>;
  /** By the index of the first operation that reads a match's results: the last index of the match. */
  readonly #ends: number[] = [];

  constructor(topology: Topology) {
    this.#topology = topology;
    this.#places = new Map(topology.order.map((node, place) => [node, place]));
  }

  matchOf(node: GraphNode): Match | undefined {
    return this.#claimed.get(node);
  }

  claim(match: Match): void {
    for (const node of match.nodes) this.#claimed.set(node, match);
    const first = this.#readersOf(match).reduce(
      (place, node) => Math.min(place, this.#placeOf(node)),
      this.#places.size,
    );
    this.#ends[first] = Math.max(this.#ends[first] ?? 0, this.#endOf(match));
  }

  /**
   * Whether no operation of a match belongs to a group yet, and no path leaves the match and returns to it.
   */
  canClaim(match: Match): boolean {
    const { nodes } = match;
    for (const node of nodes) if (this.matchOf(node)) return false;
    const seen = new Set<GraphNode>();
    const end = this.#noWayBackAfter(match);
    const stack = this.#readersOf(match);
    for (let node = stack.pop(); node; node = stack.pop()) {
      if (nodes.has(node)) return false;
      if (seen.has(node) || this.#placeOf(node) > end) continue;
      // Reaching one operation of a match reaches all of them.
      const together = this.matchOf(node)?.nodes ?? [node];
      for (const member of together) {
        seen.add(member);
        stack.push(...this.#readers(member));
      }
    }
    return true;
  }

  inOrder(): OperationGroup[] {
    const groups = new Map<Match | GraphNode, { nodes: GraphNode[]; match: Match | null }>();
    const groupOf = (node: GraphNode) => groups.get(this.matchOf(node) ?? node);
    for (const node of this.#topology.order) {
      const group = groupOf(node);
      const match = this.matchOf(node) ?? null;
      if (group) group.nodes.push(node);
      else groups.set(match ?? node, { nodes: [node], match });
    }
    const { producers } = this.#topology;
    return postOrder<OperationGroup>(groups.values(), group => {
      const needed = group.nodes
        .flatMap(node => producersOf(node, producers))
        .flatMap(node => groupOf(node) ?? []);
      return needed.filter(other => other !== group);
    });
  }

  /**
   * The index after which no path leads back to a match. Paths go forward in the order, except from the last
   * operations of another match to the readers of its first results.
   */
  #noWayBackAfter(match: Match): number {
    let end = this.#endOf(match);
    for (let place = 0; place <= end; place++) end = Math.max(end, this.#ends[place] ?? 0);
    return end;
  }

  /** The index of the last operation of a match. */
  #endOf({ nodes }: Match): number {
    return [...nodes].reduce((place, node) => Math.max(place, this.#placeOf(node)), 0);
  }

  #placeOf(node: GraphNode): number {
    return this.#places.get(node) as number;
  }

  /** The operations outside a match that read its results. */
  #readersOf({ nodes }: Match): GraphNode[] {
    return [...nodes].flatMap(node => this.#readers(node).filter(reader => !nodes.has(reader)));
  }

  #readers(node: GraphNode): GraphNode[] {
    return node.outputs.flatMap(({ id }) => this.#topology.uses(id).map(use => use.node));
  }
}
