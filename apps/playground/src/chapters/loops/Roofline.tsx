import { attainable } from '@tilewise/device-report';
import { type ReactNode, useCallback, useMemo } from 'react';
import { type DeviceName, devices } from '../../logic/schedule/devices.ts';
import { totalTraffic } from '../../logic/schedule/loop-order.ts';
import { bytesMoved, flops, naiveBytesMoved } from '../../logic/schedule/roofline.ts';
import { useUrlNumber } from '../../state/url-state.ts';
import { useNumbers } from '../../text/numbers.ts';
import { useText } from '../../text/TextProvider.tsx';
import { Slider } from '../../ui/controls/Slider.tsx';
import { BesideText } from '../../ui/figures/BesideText.tsx';
import { Chart, type Plot } from '../../ui/figures/Chart.tsx';
import { ScrollRegion } from '../../ui/figures/ScrollRegion.tsx';

const sequence = 4096;
const headSize = 128;
const bytesPerElement = 2;
const names = Object.keys(devices) as DeviceName[];
const schedules = ['naive', 'outer-product', 'inner-product'] as const;
type Schedule = (typeof schedules)[number];

const colors: Readonly<Record<Schedule, string>> = {
  naive: 'var(--bad)',
  'outer-product': 'var(--write)',
  'inner-product': 'var(--read)',
};

/** FLOP per byte of slow memory, with tiles of `tile` rows. */
function intensityOf(schedule: Schedule, tile: number): number {
  const n = sequence / tile;
  const bytes =
    schedule === 'naive'
      ? naiveBytesMoved(n, tile, headSize, bytesPerElement)
      : bytesMoved(totalTraffic(schedule, n), tile, headSize, bytesPerElement);
  return flops(n, tile, headSize) / bytes;
}

/** The speed that a device can reach at each arithmetic intensity, and the position of each schedule. */
export function Roofline(props: {
  /** The text beside the figure, before and after the controls. */
  readonly before: ReactNode;
  readonly after: ReactNode;
}) {
  const { loops: text } = useText();
  const { significant, whole } = useNumbers();
  const [peak, setPeak] = useUrlNumber('peak', devices['RTX 4090'].peak, { min: 1, max: 1500 });
  const [bandwidth, setBandwidth] = useUrlNumber('bandwidth', devices['RTX 4090'].bandwidth, {
    min: 50,
    max: 6000,
  });
  const [power, setPower] = useUrlNumber('rows', 6, { min: 4, max: 9 });
  const tile = 2 ** power;
  const device = names.find(name => devices[name].peak === peak && devices[name].bandwidth === bandwidth);
  const points = useMemo(
    () =>
      schedules.map(schedule => {
        const intensity = intensityOf(schedule, tile);
        return { schedule, intensity, ...attainable(intensity, { peak, bandwidth }) };
      }),
    [tile, peak, bandwidth],
  );
  const options = useCallback(
    (plot: Plot) => {
      const ridge = (1000 * peak) / bandwidth;
      const [left, right] = [4, 2048];
      return {
        height: 300,
        marginLeft: 52,
        marginTop: 28,
        x: {
          type: 'log' as const,
          // In base 10, d3 omits the labels of ticks such as 4 and 64.
          base: 2,
          domain: [left, right],
          label: text.flopPerByte,
          ticks: [4, 16, 64, 256, 1024],
        },
        y: {
          type: 'log' as const,
          domain: [(left * bandwidth) / 1000, peak * 1.8],
          label: 'TFLOP/s',
          ticks: 4,
          grid: true,
        },
        marks: [
          plot.line(
            [
              [left, (left * bandwidth) / 1000],
              [Math.max(left, ridge), attainable(Math.max(left, ridge), { peak, bandwidth }).reached],
              [right, attainable(right, { peak, bandwidth }).reached],
            ],
            { stroke: 'var(--line-strong)', strokeWidth: 3, clip: true },
          ),
          plot.ruleX(points, {
            x: 'intensity',
            y1: (left * bandwidth) / 1000,
            y2: 'reached',
            stroke: point => colors[point.schedule as Schedule],
            strokeDasharray: '3 4',
          }),
          plot.dot(points, {
            x: 'intensity',
            y: 'reached',
            r: 6.5,
            fill: point => colors[point.schedule as Schedule],
            stroke: 'var(--surface)',
            strokeWidth: 2,
          }),
        ],
      };
    },
    [peak, bandwidth, points, text],
  );
  const choose = (name: DeviceName): void => {
    setPeak(devices[name].peak);
    setBandwidth(devices[name].bandwidth);
  };
  return (
    <BesideText
      after={props.after}
      figure={
        <div className="stack">
          <Chart
            label={text.rooflineChart(
              points.map(
                ({ schedule, intensity, reached }) =>
                  `${text.schedules[schedule]}: ${significant(intensity, 3)}, ${significant(reached, 3)} TFLOP/s`,
              ),
            )}
            options={options}
          />
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
        </div>
      }
    >
      {props.before}
      <div className="devices">
        {names.map(name => (
          <button
            key={name}
            type="button"
            className="button"
            aria-pressed={name === device}
            onClick={() => choose(name)}
          >
            {name === 'laptop' ? text.laptop : name}
          </button>
        ))}
      </div>
      <Slider label={text.arithmetic} value={peak} min={1} max={1500} format={whole} onChange={setPeak} />
      <Slider
        label={text.memory}
        value={bandwidth}
        min={50}
        max={6000}
        format={whole}
        onChange={setBandwidth}
      />
      <Slider
        label={text.rowsPerTile}
        value={power}
        min={4}
        max={9}
        format={p => String(2 ** p)}
        onChange={setPower}
      />
      <p className="note">{text.rooflineNote(whole(sequence), headSize)}</p>
    </BesideText>
  );
}
