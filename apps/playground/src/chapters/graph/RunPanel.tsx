import type { GraphSource, RunReport } from '../../logic/graph/report.ts';
import type { RunAnswer } from '../../logic/graph/run-worker.ts';
import { useUrlChoice } from '../../state/url-state.ts';
import { useNumbers } from '../../text/numbers.ts';
import { useText } from '../../text/TextProvider.tsx';
import { useChapterText } from '../../text/useChapterText.ts';
import { Choice } from '../../ui/controls/Choice.tsx';
import { ScrollRegion } from '../../ui/figures/ScrollRegion.tsx';
import { Stats } from '../../ui/figures/Stats.tsx';
import { EngineNote } from '../../ui/prose/EngineNote.tsx';
import { SectionTitle } from '../../ui/prose/SectionTitle.tsx';
import { shapeText } from './OperationDetails.tsx';
import { useGraphRun } from './useGraphRun.ts';

/** Runs the graph, by its partitions and by single operations, and shows the results. */
export function RunPanel({ source }: { readonly source: GraphSource }) {
  const { engine: engines } = useText();
  const text = useChapterText('graph').run;
  const [engine, setEngine] = useUrlChoice('engine', 'auto', ['auto', 'webgpu', 'cpu']);
  const { state, start, stop } = useGraphRun(source);
  const running = state.kind === 'running';
  return (
    <section className="panel" aria-labelledby="run-title">
      <SectionTitle id="run-title">{text.title}</SectionTitle>
      <p>{text.about}</p>
      <div className="toolbar">
        <Choice label={engines.label} value={engine} options={engines.choices} onChange={setEngine} />
        <button type="button" className="button primary" onClick={() => (running ? stop() : start(engine))}>
          {running ? text.stop : text.start}
        </button>
      </div>
      <div role="status">
        {running && <p className="note">{text.running}</p>}
        {state.kind === 'failed' && (
          <p className="failure">
            <strong>{text.failed}</strong> <span lang="en">{state.message}</span>
          </p>
        )}
        {state.kind === 'done' && <Outcome answer={state} />}
      </div>
    </section>
  );
}

function Outcome({ answer }: { readonly answer: RunAnswer & { readonly kind: 'done' } }) {
  const text = useChapterText('graph').run;
  const numbers = useNumbers();
  const { report, opened } = answer;
  const ms = (time: number): string => `${numbers.significant(time, 3)} ms`;
  const { bytes } = numbers;
  const { single, saved } = report;
  return (
    <div className="stack">
      <EngineNote opened={opened} />
      <Stats
        items={[
          [text.partitionsTook(report.partitions.length), ms(report.ms)],
          ...(single ? [[text.singleTook, ms(single.ms)] as const] : []),
          [text.neverStored(saved.count), bytes(saved.bytes)],
        ]}
      />
      <p className="note">{single ? text.same(numbers.short(single.difference, 2)) : text.singleSkipped}</p>
      <PartitionTable report={report} ms={ms} bytes={bytes} />
      <ScrollRegion label={text.results}>
        <table className="numbers">
          <caption>{text.results}</caption>
          <thead>
            <tr>
              <th scope="col">{text.tensor}</th>
              <th scope="col">{text.shape}</th>
              <th scope="col">{text.range}</th>
              <th scope="col">{text.first}</th>
            </tr>
          </thead>
          <tbody>
            {report.outputs.map(({ name, dtype, shape, least, most, first }) => (
              <tr key={name}>
                <th scope="row">
                  {name} <small>{dtype}</small>
                </th>
                <td>{shapeText(shape)}</td>
                <td>
                  {numbers.short(least, 3)} … {numbers.short(most, 3)}
                </td>
                <td>{first.map(x => numbers.short(x, 3)).join('  ')}</td>
              </tr>
            ))}
          </tbody>
        </table>
      </ScrollRegion>
    </div>
  );
}

function PartitionTable(props: {
  readonly report: RunReport;
  readonly ms: (time: number) => string;
  readonly bytes: (bytes: number) => string;
}) {
  const { report, ms, bytes } = props;
  const text = useChapterText('graph').run;
  return (
    <ScrollRegion label={text.partitions}>
      <table className="numbers">
        <caption>{text.partitions}</caption>
        <thead>
          <tr>
            <th scope="col">{text.kind}</th>
            <th scope="col">{text.operations}</th>
            <th scope="col">{text.kernel}</th>
            <th scope="col">{text.workspace}</th>
            <th scope="col">{text.time}</th>
          </tr>
        </thead>
        <tbody>
          {report.partitions
            .map((partition, n) => ({ ...partition, key: `${n}` }))
            .map(({ key, kind, operations, kernel, reasons, ms: took, workspaceBytes }) => (
              <tr key={key}>
                <th scope="row">
                  <code>{kind}</code>
                </th>
                <td>{operations}</td>
                <td>
                  {text.kernels[kernel]}
                  {reasons.length > 0 && <small lang="en"> ({reasons.join('; ')})</small>}
                </td>
                <td>{bytes(workspaceBytes)}</td>
                <td>{ms(took)}</td>
              </tr>
            ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}
