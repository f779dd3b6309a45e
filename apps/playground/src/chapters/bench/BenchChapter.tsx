import { useState } from 'react';
import { useUrlChoice, useUrlFlag } from '../../app/url-choice.ts';
import type { BenchRow } from '../../bench/bench.ts';
import { useText } from '../../text/TextProvider.tsx';
import { Choice } from '../../ui/Choice.tsx';
import { Reveal } from '../../ui/Reveal.tsx';
import { Paragraphs, Rich } from '../../ui/Rich.tsx';
import { ScrollRegion } from '../../ui/ScrollRegion.tsx';
import { Section } from '../../ui/Section.tsx';
import { Stats } from '../../ui/Stats.tsx';
import { Toggle } from '../../ui/Toggle.tsx';
import { BenchChart } from './BenchChart.tsx';
import { BenchTable } from './BenchTable.tsx';
import './bench.css';
import { type BenchState, useBench } from './useBench.ts';

/** Chapter 10: the kernels, measured on the visitor's machine. */
export default function BenchChapter() {
  const text = useText().measure;
  const [engine, setEngine] = useUrlChoice('engine', ['auto', 'cpu'], 'auto');
  const [size, setSize] = useUrlChoice('size', ['auto', 'small', 'medium', 'large'], 'auto');
  const [head, setHead] = useUrlChoice('d', ['32', '64', '128'], '64');
  const [dtype, setDtype] = useUrlChoice('dtype', ['f32', 'f16', 'bf16'], 'f32');
  const [causal, setCausal] = useUrlFlag('causal');
  const { state, start, stop } = useBench();
  const running = state?.running ?? false;
  const D = Number(head) as 32 | 64 | 128;
  return (
    <div className="stack">
      <div className="prose">
        <Paragraphs text={text.intro} />
      </div>
      <Section id="bench" title={text.title}>
        <div className="bench-controls">
          <Choice label={text.engine} value={engine} options={text.engines} onChange={setEngine} />
          <Choice label={text.size} value={size} options={text.sizes} onChange={setSize} />
          <Choice
            label={text.headSize}
            value={head}
            options={{ '32': '32', '64': '64', '128': '128' }}
            onChange={setHead}
          />
          <Choice
            label={text.dtype}
            value={dtype}
            options={{ f32: 'f32', f16: 'f16', bf16: 'bf16' }}
            onChange={setDtype}
          />
          <Toggle label={text.causal} checked={causal} onChange={setCausal} />
        </div>
        <div className="toolbar">
          <button
            type="button"
            className="button primary"
            onClick={() => (running ? stop() : start({ engine, size, D, causal, dtype }))}
          >
            {running ? text.stop : text.start}
          </button>
          {state && state.total > 0 && (
            <>
              <progress
                className="bench-progress"
                aria-label={text.progress}
                max={state.total}
                value={state.done}
              />
              <span className="mono">
                {state.done} / {state.total}
              </span>
            </>
          )}
        </div>
        <p className="visually-hidden" role="status">
          {state && (running ? text.running : text.finished(state.rows.length))}
        </p>
        {state?.failed && (
          <p className="failure" role="alert">
            <strong>{text.failed}</strong> <span lang="en">{state.failed}</span>
          </p>
        )}
        {state && JSON.stringify(state.config) !== JSON.stringify({ engine, size, D, causal, dtype }) && (
          <p className="note" role="status">
            {text.otherSettings}
          </p>
        )}
        {state ? <Findings state={state} /> : <p className="note">{text.before}</p>}
      </Section>
      <Reveal summary={text.howSummary}>
        <Paragraphs text={text.how} />
      </Reveal>
    </div>
  );
}

function Findings({ state }: { readonly state: BenchState }) {
  const text = useText().measure;
  const { machine, rows } = state;
  if (!machine) return <p className="note">{text.running}</p>;
  const most = Math.max(0, ...rows.map(({ tflops = 0 }) => tflops));
  const tera = most >= 0.5;
  return (
    <>
      <Stats
        items={[
          [text.machine, machine.description],
          [text.clock, text.clocks[machine.clock]],
          ...(machine.features.length > 0 ? [[text.features, machine.features.join(', ')] as const] : []),
        ]}
      />
      {machine.instead !== undefined && <p className="note">{text.instead(machine.instead)}</p>}
      {machine.engine === 'webgpu' && machine.software && <p className="note">{text.software}</p>}
      {rows.length > 0 && (
        <>
          <div className="bench-charts">
            {(['forward', 'backward'] as const).map(pass => (
              <BenchChart
                key={pass}
                title={text.speedOf[pass]}
                rows={rows}
                pass={pass}
                value={tera ? teraflops : gigaflops}
                unit={tera ? 'TFLOP/s' : 'GFLOP/s'}
              />
            ))}
            <BenchChart title={text.memoryOf} rows={rows} pass="backward" value={mebibytes} unit="MiB" log />
          </div>
          <BenchTable rows={rows} />
          <Copy state={state} />
        </>
      )}
    </>
  );
}

const teraflops = ({ tflops }: BenchRow): number | undefined => tflops;
const gigaflops = ({ tflops }: BenchRow): number | undefined => tflops && 1000 * tflops;
const mebibytes = ({ bytes }: BenchRow): number => bytes / 2 ** 20;

/** The measurement as JSON, to read and to copy. */
function Copy({ state }: { readonly state: BenchState }) {
  const text = useText().measure;
  const [copied, setCopied] = useState<'yes' | 'no' | null>(null);
  const { config, machine, rows } = state;
  const json = JSON.stringify({ config, machine, rows }, null, 2);
  const copy = (): void => {
    navigator.clipboard.writeText(json).then(
      () => setCopied('yes'),
      () => setCopied('no'),
    );
  };
  return (
    <>
      <div className="toolbar">
        <button type="button" className="button" onClick={copy}>
          {text.copy}
        </button>
        <span className="note" role="status">
          {copied && text.copied[copied]}
        </span>
      </div>
      <Reveal summary={text.json}>
        <ScrollRegion className="bench-json" label={text.json}>
          <pre>{json}</pre>
        </ScrollRegion>
      </Reveal>
      <p className="note">
        <Rich text={text.counted} />
      </p>
    </>
  );
}
