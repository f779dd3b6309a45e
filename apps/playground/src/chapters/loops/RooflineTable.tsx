import { useNumbers } from '../../text/numbers.ts';
import { useText } from '../../text/TextProvider.tsx';
import { ScrollRegion } from '../../ui/figures/ScrollRegion.tsx';
import { colors, type SchedulePoint } from './schedule-points.ts';

/** The points of the chart as numbers, with what limits each schedule. */
export function RooflineTable({ points }: { readonly points: readonly SchedulePoint[] }) {
  const { loops: text } = useText();
  const { significant } = useNumbers();
  return (
    <ScrollRegion label={text.roofline}>
      <table className="numbers">
        <thead>
          <tr>
            <td />
            <th scope="col">{text.flopPerByte}</th>
            <th scope="col">TFLOP/s</th>
            <th scope="col">{text.limitedBy}</th>
          </tr>
        </thead>
        <tbody>
          {points.map(({ schedule, intensity, reached, limit }) => (
            <tr key={schedule}>
              <th scope="row">
                <span className="keyed">
                  <span className="swatch" style={{ background: colors[schedule] }} />
                  {text.schedules[schedule]}
                </span>
              </th>
              <td>{significant(intensity, 3)}</td>
              <td>{significant(reached, 3)}</td>
              <td>{text.limits[limit]}</td>
            </tr>
          ))}
        </tbody>
      </table>
    </ScrollRegion>
  );
}
