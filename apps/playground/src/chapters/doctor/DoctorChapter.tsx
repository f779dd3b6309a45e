import type { DeviceReport } from '@tilewise/device-report';
import { useUrlChoice, useUrlFlag } from '../../state/url-state.ts';
import { useChapterText } from '../../text/useChapterText.ts';
import { Choice } from '../../ui/controls/Choice.tsx';
import { Toggle } from '../../ui/controls/Toggle.tsx';
import { References } from '../../ui/prose/References.tsx';
import { Reveal } from '../../ui/prose/Reveal.tsx';
import { Paragraphs } from '../../ui/prose/Rich.tsx';
import { Section } from '../../ui/prose/Section.tsx';
import { Correctness } from './Correctness.tsx';
import { DeviceFacts } from './DeviceFacts.tsx';
import { CompareReports } from './reports/CompareReports.tsx';
import { DeviceRoofline } from './roofline/DeviceRoofline.tsx';
import './doctor.css';
import { ShareReport } from './reports/ShareReport.tsx';
import { Speed } from './speed/Speed.tsx';
import { type Examination, useExamination } from './useExamination.ts';
import { Verdict } from './Verdict.tsx';

/**
 * The visitor's device: whether attention is right on it, what the device offers, how fast attention is, and
 * a report of all this.
 */
export default function DoctorChapter() {
  const text = useChapterText('doctor');
  const [engine, setEngine] = useUrlChoice('engine', 'auto', ['auto', 'cpu']);
  const [size, setSize] = useUrlChoice('size', 'auto', ['auto', 'small', 'medium', 'large']);
  const [head, setHead] = useUrlChoice('d', '64', ['32', '64', '128']);
  const [dtype, setDtype] = useUrlChoice('dtype', 'f32', ['f32', 'f16', 'bf16']);
  const [causal, setCausal] = useUrlFlag('causal');
  const { examination, start, stop } = useExamination();
  const { running, report, settings } = examination;
  const wanted = { engine, size, D: Number(head), causal, dtype } as const;
  return (
    <div className="stack">
      <div className="prose">
        <Paragraphs text={text.intro} />
      </div>
      <Section id="examine" title={text.title}>
        <div className="doctor-controls">
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
          <button type="button" className="button primary" onClick={() => (running ? stop() : start(wanted))}>
            {running ? text.stop : text.start}
          </button>
          <Progress examination={examination} />
        </div>
        {examination.failed && (
          <p className="failure" role="alert">
            <strong>{text.failed}</strong> <span lang="en">{examination.failed}</span>
          </p>
        )}
        {settings && JSON.stringify(settings) !== JSON.stringify(wanted) && (
          <p className="note" role="status">
            {text.otherSettings}
          </p>
        )}
        {report ? <Verdict report={report} /> : !running && <p className="note">{text.before}</p>}
      </Section>
      {report && <Findings report={report} />}
      <CompareReports own={report} />
      <Reveal summary={text.howSummary}>
        <Paragraphs text={text.how} />
      </Reveal>
      <References ids={['williams']} />
    </div>
  );
}

function Progress({ examination: { running, progress, report } }: { readonly examination: Examination }) {
  const text = useChapterText('doctor');
  const measured = report?.attention?.measurements.length ?? 0;
  return (
    <>
      {running && progress && (
        <>
          <progress
            className="doctor-progress"
            aria-label={text.progress}
            max={progress.total}
            value={progress.done}
          />
          <span>{text.stages[progress.stage]}</span>
          {progress.total > 1 && (
            <span className="mono">
              {progress.done} / {progress.total}
            </span>
          )}
        </>
      )}
      <p className="visually-hidden" role="status">
        {running ? text.running : measured > 0 && text.finished(measured)}
      </p>
    </>
  );
}

function Findings({ report }: { readonly report: DeviceReport }) {
  const { diagnosis, attention } = report;
  return (
    <>
      {diagnosis.checks.length > 0 && <Correctness checks={diagnosis.checks} />}
      {attention && <Speed attention={attention} />}
      <DeviceRoofline report={report} />
      {diagnosis.adapter && <DeviceFacts diagnosis={diagnosis} />}
      <ShareReport report={report} />
    </>
  );
}
