import type { DeviceReport } from '@tilewise/device-report';
import { useNumbers } from '../../text/numbers.ts';
import { useChapterText } from '../../text/useChapterText.ts';
import { ScrollRegion } from '../../ui/figures/ScrollRegion.tsx';
import { Section } from '../../ui/prose/Section.tsx';

/** Features and limits of the device, and which variants they let it run. */
export function DeviceFacts({ diagnosis }: { readonly diagnosis: DeviceReport['diagnosis'] }) {
  const text = useChapterText('doctor');
  const { significant, bytes } = useNumbers();
  const { features, limits, variants } = diagnosis;
  /** A limit with its unit; subgroup sizes are 0 where there are no subgroups. */
  const value = (name: string, of: number): string => {
    if (of === 0) return '–';
    return /Size$/.test(name) && of >= 1024 ? bytes(of) : significant(of, 12);
  };
  return (
    <Section id="device" title={text.device}>
      <p>{text.deviceAbout}</p>
      <ul className="doctor-features" lang="en" aria-label={text.features}>
        {features.map(feature => (
          <li key={feature} data-used={Object.hasOwn(text.featureUse, feature)}>
            <code>{feature}</code>
          </li>
        ))}
      </ul>
      <dl className="doctor-use">
        {Object.entries(text.featureUse).map(([feature, use]) => (
          <div key={feature} data-there={features.includes(feature)}>
            <dt>
              <code>{feature}</code> <span>{features.includes(feature) ? text.there : text.notThere}</span>
            </dt>
            <dd>{use}</dd>
          </div>
        ))}
      </dl>
      <div className="beside">
        <ScrollRegion label={text.limits}>
          <table className="numbers">
            <caption>{text.limits}</caption>
            <thead>
              <tr>
                <th scope="col">{text.limit}</th>
                <th scope="col">{text.here}</th>
                <th scope="col">{text.guaranteed}</th>
              </tr>
            </thead>
            <tbody>
              {limits.map(limit => (
                <tr key={limit.name}>
                  <th scope="row" lang="en">
                    <code>{limit.name}</code>
                  </th>
                  <td>{value(limit.name, limit.value)}</td>
                  <td>{value(limit.name, limit.guaranteed)}</td>
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollRegion>
        <div className="stack tight">
          <p className="note">{text.variants}</p>
          <ul className="criteria" lang="en">
            {variants.map(({ name, enabled, reasons }) => (
              <li key={name} data-met={enabled}>
                <span>
                  {name}
                  {reasons.length > 0 && <em>: {reasons.join('; ')}</em>}
                </span>
              </li>
            ))}
          </ul>
        </div>
      </div>
    </Section>
  );
}
