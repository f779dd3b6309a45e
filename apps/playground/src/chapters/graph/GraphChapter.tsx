import type { Partition } from '@tilewise/graph';
import { useId, useMemo, useState } from 'react';
import { maxDrawn } from '../../logic/graph/graph-drawing.ts';
import { type GraphFile, keepGraphFile, keptGraphFile } from '../../logic/graph/kept-file.ts';
import { type GraphSource, openGraph } from '../../logic/graph/report.ts';
import { bytesOf, inner } from '../../logic/graph/run-graph.ts';
import { useUrlChoice, useUrlNumber } from '../../state/url-state.ts';
import { useNumbers } from '../../text/numbers.ts';
import { useChapterText } from '../../text/useChapterText.ts';
import { Choice } from '../../ui/controls/Choice.tsx';
import { Stats } from '../../ui/figures/Stats.tsx';
import { Paragraphs } from '../../ui/prose/Rich.tsx';
import { Section } from '../../ui/prose/Section.tsx';
import { FileDrop } from './FileDrop.tsx';
import { GraphFigure } from './figure/GraphFigure.tsx';
import { LargeGraph } from './figure/LargeGraph.tsx';
import { GraphControls, useAttentionOptions } from './GraphControls.tsx';
import './graph.css';
import { toneOf } from './figure/tone.ts';
import { OperationDetails } from './OperationDetails.tsx';
import { RunPanel } from './RunPanel.tsx';

type OpenedGraph = ReturnType<typeof openGraph>;

/** Attention as a graph, as the partitioner sees it. */
export default function GraphChapter() {
  const text = useChapterText('graph');
  const options = useAttentionOptions();
  const [file, setFile] = useState<GraphFile | null>(keptGraphFile);
  const [policy, setPolicy] = useUrlChoice('policy', 'fusion', ['fusion', 'debug']);
  const built = JSON.stringify(options.value);
  const source = useMemo<GraphSource>(
    () => file ?? { kind: 'built', options: JSON.parse(built) },
    [file, built],
  );
  const opened = useMemo<OpenedGraph | { readonly error: string }>(() => {
    try {
      return openGraph(source);
    } catch (error) {
      return { error: error instanceof Error ? error.message : String(error) };
    }
  }, [source]);
  const graph = 'graph' in opened ? opened.graph : null;
  return (
    <div className="stack">
      <div className="prose">
        <Paragraphs text={text.intro} />
      </div>
      <Section id="graph" title={file ? file.name : text.passTitles[options.value.pass]}>
        {file === null && <GraphControls options={options} />}
        <Choice label={text.policy} value={policy} options={text.policies} onChange={setPolicy} />
        {'error' in opened ? (
          <div className="failure" role="alert">
            <strong>{text.unreadable}</strong>
            <p lang="en">{opened.error}</p>
            <p>{text.unreadableHint}</p>
          </div>
        ) : (
          <GraphInPartitions {...opened} policy={policy} />
        )}
        <FileDrop
          source={source}
          graph={graph}
          onFile={next => {
            keepGraphFile(next);
            setFile(next);
          }}
        />
      </Section>
      {graph && <RunPanel source={source} />}
    </div>
  );
}

function GraphInPartitions(props: OpenedGraph & { readonly policy: 'fusion' | 'debug' }) {
  const { graph, names, policy } = props;
  const text = useChapterText('graph');
  const numbers = useNumbers();
  const details = useId();
  const partitions = useMemo(() => graph.partitions({ policy }), [graph, policy]);
  const [chosen, setChosen] = useUrlNumber('op', 0, { min: 0, max: 1e9 });
  const [looked, setLooked] = useState<number | null>(null);
  const node = graph.nodes.find(({ id }) => id === (looked ?? chosen)) ?? graph.nodes[0];
  const partitionOf = (id: number): Partition | undefined => partitions.find(({ ops }) => ops.includes(id));
  const attention = partitions.filter(partition => toneOf(partition) === 'attention');
  const stored = graph.nodes.flatMap(({ outputs }) => outputs).reduce((sum, t) => sum + bytesOf(graph, t), 0);
  const saved = attention.reduce((sum, partition) => sum + inner(graph, partition).bytes, 0);
  const { bytes } = numbers;
  return (
    <>
      <div className="graph-board">
        <GraphFigure
          graph={graph}
          names={names}
          partitions={partitions}
          chosen={chosen}
          looked={node?.id ?? -1}
          onLook={setLooked}
          onChoose={setChosen}
          details={details}
        />
        {node && (
          <OperationDetails
            id={details}
            graph={graph}
            names={names}
            node={node}
            partition={partitionOf(node.id)}
          />
        )}
      </div>
      <div className="graph-summary">
        <Stats
          items={[
            [text.operations, graph.nodes.length],
            [text.partitions, partitions.length],
            [text.computed, bytes(stored)],
            [text.stored, bytes(stored - saved)],
          ]}
        />
        <ul className="graph-legend">
          {(['attention', 'fused', 'single'] as const).map(tone => (
            <li key={tone} className="graph-badge" data-tone={tone}>
              {text.tones[tone]}
            </li>
          ))}
        </ul>
      </div>
      <p className="note">{text.keys}</p>
      {graph.nodes.length > maxDrawn && (
        <LargeGraph graph={graph} partitions={partitions} onChoose={setChosen} />
      )}
    </>
  );
}
