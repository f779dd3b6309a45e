import { Graph as Dagre, layout } from '@dagrejs/dagre';

/** A rectangle, given by its centre. */
export interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

/** A rectangle to be placed, and the group that it belongs to. */
export interface NodeToPlace {
  readonly key: string;
  readonly width: number;
  readonly height: number;
  readonly group: string | null;
}

/** The drawn part of a graph before it is laid out, as plain data that can be posted to a worker. */
export interface DrawingPlan {
  readonly nodes: readonly NodeToPlace[];
  readonly groups: readonly string[];
  /** From node to node, in the direction in which data flows. */
  readonly edges: readonly { readonly from: string; readonly to: string }[];
}

/**
 * The positions of everything in a drawing, in pixels: nodes and groups by their keys, edges in the order of
 * the plan.
 */
export interface Placement {
  readonly width: number;
  readonly height: number;
  readonly boxes: Readonly<Record<string, Box>>;
  readonly edges: readonly (readonly { readonly x: number; readonly y: number }[])[];
}

/** Lays out a drawing in layers from the inputs downwards, with each group in one piece. */
export function place({ nodes, groups, edges }: DrawingPlan): Placement {
  // dagre would return a negative infinite size.
  if (nodes.length === 0) return { width: 0, height: 0, boxes: {}, edges: [] };
  const dagre = new Dagre({ compound: true, multigraph: true });
  dagre.setGraph({ rankdir: 'TB', nodesep: 18, ranksep: 30, edgesep: 12, marginx: 12, marginy: 12 });
  dagre.setDefaultEdgeLabel(() => ({}));
  for (const group of groups) dagre.setNode(group, {});
  for (const { key, width, height, group } of nodes) {
    dagre.setNode(key, { width, height });
    if (group !== null) dagre.setParent(key, group);
  }
  edges.forEach(({ from, to }, n) => {
    dagre.setEdge(from, to, {}, String(n));
  });
  layout(dagre);
  const boxOf = (key: string): Box => {
    const { x = 0, y = 0, width = 0, height = 0 } = dagre.node(key) as Partial<Box>;
    return { x, y, width, height };
  };
  const whole = dagre.graph() as { readonly width?: number; readonly height?: number };
  return {
    width: whole.width ?? 0,
    height: whole.height ?? 0,
    boxes: Object.fromEntries([...groups, ...nodes.map(({ key }) => key)].map(key => [key, boxOf(key)])),
    edges: edges.map(({ from, to }, n) => dagre.edge(from, to, String(n))?.points ?? []),
  };
}
