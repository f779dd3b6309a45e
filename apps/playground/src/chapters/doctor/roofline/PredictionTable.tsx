import { measurementName, type Roofline } from '@tilewise/device-report';
import { useNumbers } from '../../../text/numbers.ts';
import { useChapterText } from '../../../text/useChapterText.ts';
import { ScrollRegion } from '../../../ui/figures/ScrollRegion.tsx';
import { implementationColors } from '../speed/implementation-colors.ts';
import type { SpeedUnit } from '../speed/speed-unit.ts';

/** The roofline's prediction for each measurement, and the share of the prediction that was measured. */
export function PredictionTable(props: {
  readonly points: Roofline['points'];
  /** The head size of the measurements. */
  readonly head: number;
  readonly unit: SpeedUnit;
}) {
  const { points, head, unit } = props;
  const text = useChapterText('doctor');
  const { significant, percent, whole } = useNumbers();
  const speed = (tflops: number): string => significant(unit.perTeraflops * tflops, 3);
  return (
    <ScrollRegion label={text.prediction(unit.name)}>
      <table className="numbers">
        <caption>{text.prediction(unit.name)}</caption>
        <thead>
          <tr>
            <th scope="col">{text.what}</th>
            <th scope="col">{text.flopPerByte}</th>
            <th scope="col">{text.predicted}</th>
            <th scope="col">{text.limitedBy}</th>
            <th scope="col">{text.reached}</th>
            <th scope="col">{text.share}</th>
          </tr>
        </thead>
        <tbody>
          {points.map(({ measurement, intensity, predicted, limit, reached }) => (
            <tr key={measurementName(measurement, head)}>
              <th scope="row">
                <span className="keyed">
                  <span
                    className="swatch"
                    style={{ background: implementationColors[measurement.implementation] }}
                  />
                  {[
                    text.implementations[measurement.implementation],
                    text.passes[measurement.pass],
                    `S = ${whole(measurement.S)}`,
                  ].join(', ')}
                </span>
              </th>
              <td>{significant(intensity, 3)}</td>
              <td>{speed(predicted)}</td>
              <td>{text.limitedBys[limit]}</td>
              <td>{speed(reached)}</td>
              <td>{percent(reached / predicted)}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}
