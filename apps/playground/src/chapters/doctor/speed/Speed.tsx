import { type AttentionReport, type Measurement, teraflops } from '@tilewise/device-report';
import { useCallback } from 'react';
import { useChapterText } from '../../../text/useChapterText.ts';
import { Rich } from '../../../ui/prose/Rich.tsx';
import { Section } from '../../../ui/prose/Section.tsx';
import { SpeedChart } from './SpeedChart.tsx';
import { SpeedTable } from './SpeedTable.tsx';
import { speedUnit } from './speed-unit.ts';

/** How fast attention is, flash and with stored scores, and how much memory it takes. */
export function Speed({ attention }: { readonly attention: AttentionReport }) {
  const text = useChapterText('doctor');
  const { measurements, machine, settings } = attention;
  const { name, perTeraflops } = speedUnit(Math.max(0, ...measurements.map(row => teraflops(row) ?? 0)));
  const speed = useCallback(
    (row: Measurement): number | undefined => {
      const reached = teraflops(row);
      return reached === undefined ? undefined : perTeraflops * reached;
    },
    [perTeraflops],
  );
  return (
    <Section id="speed" title={text.speed}>
      <p>
        {text.speedAbout(settings.D, settings.dtype, settings.causal)}{' '}
        {machine.engine === 'webgpu' ? text.besideStored : text.onlyFlash}
      </p>
      {machine.engine === 'webgpu' && machine.software && <p className="note">{text.software}</p>}
      <div className="doctor-charts">
        {(['forward', 'backward'] as const).map(pass => (
          <SpeedChart
            key={pass}
            title={text.speedOf[pass]}
            rows={measurements}
            pass={pass}
            value={speed}
            unit={name}
          />
        ))}
        <SpeedChart
          title={text.memoryOf}
          rows={measurements}
          pass="backward"
          value={mebibytes}
          unit="MiB"
          log
        />
      </div>
      <SpeedTable rows={measurements} />
      <p className="note">
        <Rich text={text.counted} />
      </p>
    </Section>
  );
}

const mebibytes = ({ bytes }: Measurement): number => bytes / 2 ** 20;
