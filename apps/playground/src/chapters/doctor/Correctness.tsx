import type { DeviceReport } from '@tilewise/device-report';
import { useNumbers } from '../../text/numbers.ts';
import { useChapterText } from '../../text/useChapterText.ts';
import { ScrollRegion } from '../../ui/figures/ScrollRegion.tsx';
import { Section } from '../../ui/prose/Section.tsx';

type Check = DeviceReport['diagnosis']['checks'][number];

/** The position of an error between 10⁻⁹ and 10⁻¹, as a share of that span. */
const place = (error: number): number => Math.min(1, Math.max(0, (Math.log10(error) + 9) / 8));

/** Every check against the float64 reference, with its error drawn beside the allowed error. */
export function Correctness({ checks }: { readonly checks: readonly Check[] }) {
  const text = useChapterText('doctor');
  const numbers = useNumbers();
  return (
    <Section id="correctness" title={text.correctness}>
      <p>{text.correctnessAbout}</p>
      <ScrollRegion label={text.correctness}>
        <table className="numbers doctor-checks">
          <thead>
            <tr>
              <th scope="col">{text.check}</th>
              <th scope="col">{text.result}</th>
              <th scope="col">{text.error}</th>
              <th scope="col">{text.allowed}</th>
              <th scope="col">{text.errorDrawn}</th>
            </tr>
          </thead>
          <tbody>
            {checks.map(({ name, error, allowed, failure }) => {
              const right = error <= allowed;
              return (
                <tr key={name}>
                  <th scope="row" lang="en">
                    {name}
                  </th>
                  <td data-bad={!right}>{right ? text.right : text.wrong}</td>
                  <td lang={failure ? 'en' : undefined}>{failure ?? numbers.short(error, 2)}</td>
                  <td>{numbers.short(allowed, 2)}</td>
                  <td>
                    <svg className="doctor-error" viewBox="0 0 100 10" aria-hidden="true">
                      <line className="doctor-track" x1="0" x2="100" y1="5" y2="5" />
                      <line
                        className="doctor-allowed"
                        x1={100 * place(allowed)}
                        x2={100 * place(allowed)}
                        y1="0"
                        y2="10"
                      />
                      <circle cx={2.5 + 95 * place(error)} cy="5" r="2.5" data-bad={!right} />
                    </svg>
                  </td>
                </tr>
              );
            })}
          </tbody>
        </table>
      </ScrollRegion>
    </Section>
  );
}
