import { type DeviceReport, deviceName } from '@tilewise/device-report';
import { useLanguage } from '../../text/TextProvider.tsx';
import { useChapterText } from '../../text/useChapterText.ts';
import { Stats } from '../../ui/figures/Stats.tsx';

/** The outcome in one sentence, and the name of the machine. */
export function Verdict({ report }: { readonly report: DeviceReport }) {
  const text = useChapterText('doctor');
  const [language] = useLanguage();
  const { diagnosis, made, attention } = report;
  const wasChosen = attention?.machine.engine === 'cpu' && attention.machine.instead === undefined;
  const date = new Date(made);
  const when = Number.isNaN(date.valueOf())
    ? ''
    : new Intl.DateTimeFormat(language, { dateStyle: 'medium', timeStyle: 'short' }).format(date);
  return (
    <>
      {!wasChosen && (
        <p className="doctor-verdict" data-status={diagnosis.status}>
          <strong>{text.statuses[diagnosis.status]}</strong>{' '}
          {diagnosis.status === 'ok' || diagnosis.status === 'slow' ? null : (
            <span lang="en">{diagnosis.verdict}</span>
          )}
        </p>
      )}
      <Stats
        items={[
          [text.machine, attention?.machine.description ?? deviceName(report)],
          ...(attention ? [[text.clock, text.clocks[attention.machine.clock]] as const] : []),
          ...(when ? [[text.when, when] as const] : []),
        ]}
      />
      {attention?.machine.instead !== undefined && (
        <p className="note">{text.instead(attention.machine.instead)}</p>
      )}
    </>
  );
}
