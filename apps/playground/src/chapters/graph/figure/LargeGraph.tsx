import type { Graph, Partition } from '@tilewise/graph';
import { useState } from 'react';
import { maxDrawn } from '../../../logic/graph/graph-drawing.ts';
import { useChapterText } from '../../../text/useChapterText.ts';

/**
 * The summary of a graph that is too large to be drawn whole: its partitions by kind, each a link to the next
 * partition of that kind. A single operation counts under its own kind.
 */
export function LargeGraph(props: {
  readonly graph: Graph;
  readonly partitions: readonly Partition[];
  readonly onChoose: (operation: number) => void;
}) {
  const { graph, partitions, onChoose } = props;
  const text = useChapterText('graph');
  const byKind = new Map<string, Partition[]>();
  const kindOf = new Map(graph.nodes.map(({ id, kind }) => [id, kind]));
  for (const partition of partitions) {
    const [only, ...others] = partition.ops;
    const single = others.length === 0 && only !== undefined ? kindOf.get(only) : undefined;
    const kind = single ?? partition.kind;
    const all = byKind.get(kind);
    if (all) all.push(partition);
    else byKind.set(kind, [partition]);
  }
  const [shown, setShown] = useState<ReadonlyMap<string, number>>(new Map());
  const next = (kind: string, all: readonly Partition[]): void => {
    const at = ((shown.get(kind) ?? -1) + 1) % all.length;
    setShown(new Map(shown).set(kind, at));
    const [first] = all[at]?.ops ?? [];
    if (first !== undefined) onChoose(first);
  };
  return (
    <div className="graph-kinds">
      <p>{text.partOfGraph(maxDrawn, graph.nodes.length)}</p>
      <ul>
        {[...byKind].map(([kind, all]) => (
          <li key={kind}>
            <button type="button" className="button" onClick={() => next(kind, all)}>
              <code>{kind}</code> {text.ofKind((shown.get(kind) ?? -1) + 1, all.length)}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
