import * as Plot from '@observablehq/plot';
import { useEffect, useRef } from 'react';
import { useUrlNumber } from '../../app/url-state.ts';
import { type LoopOrder, totalTraffic } from '../../schedule/loop-order.ts';
import { bytesMoved, flops, roofline } from '../../schedule/roofline.ts';
import { Slider } from '../../ui/Slider.tsx';
import { Stats } from '../../ui/Stats.tsx';

const sequence = 4096;
const headSize = 128;
const bytesPerElement = 2;

/** What a device can reach at each arithmetic intensity, and where this schedule lies. */
export function Roofline({ order }: { readonly order: LoopOrder }) {
  const [peak, setPeak] = useUrlNumber('peak', 60, { min: 1, max: 1000 });
  const [bandwidth, setBandwidth] = useUrlNumber('bandwidth', 1000, { min: 50, max: 5000 });
  const [power, setPower] = useUrlNumber('rows', 6, { min: 3, max: 9 });
  const tile = 2 ** power;
  const n = sequence / tile;
  const intensity =
    flops(n, tile, headSize) / bytesMoved(totalTraffic(order, n), tile, headSize, bytesPerElement);
  const { reached, limit } = roofline(intensity, { name: '', peak, bandwidth });
  const host = useRef<HTMLDivElement>(null);
  useEffect(() => {
    const ridge = (1000 * peak) / bandwidth;
    const chart = Plot.plot({
      width: 640,
      height: 260,
      marginLeft: 60,
      marginBottom: 42,
      style: {
        background: 'none',
        fontFamily: 'var(--font)',
        fontSize: '12px',
        color: 'var(--text-soft)',
        overflow: 'visible',
      },
      x: {
        type: 'log',
        domain: [1, 2048],
        label: 'FLOP per byte',
        ticks: [1, 4, 16, 64, 256, 1024],
        tickFormat: 'd',
      },
      y: {
        type: 'log',
        domain: [Math.min(0.5, bandwidth / 1000), peak * 2],
        label: 'TFLOP/s',
        ticks: 4,
        tickFormat: '~g',
        grid: true,
      },
      marks: [
        Plot.line(
          [
            [1, bandwidth / 1000],
            [ridge, peak],
            [2048, peak],
          ],
          { stroke: 'var(--accent)', strokeWidth: 2, clip: true },
        ),
        Plot.ruleX([intensity], { stroke: 'var(--write)', strokeDasharray: '4 3' }),
        Plot.dot([[intensity, reached]], { r: 6, fill: 'var(--write)' }),
      ],
    });
    // The figure has a label of its own; those of the marks have no role that could carry them.
    chart.setAttribute('aria-hidden', 'true');
    host.current?.replaceChildren(chart);
    return () => chart.remove();
  }, [peak, bandwidth, intensity, reached]);
  return (
    <div className="loops">
      <div
        ref={host}
        className="chart"
        role="img"
        aria-label={`Roofline: ${Math.round(intensity)} FLOP per byte, limited by ${limit} to ${reached.toPrecision(3)} TFLOP/s`}
      />
      <div className="stack">
        <Slider label="Arithmetic, TFLOP/s" value={peak} min={1} max={1000} onChange={setPeak} />
        <Slider
          label="Memory, GB/s"
          value={bandwidth}
          min={50}
          max={5000}
          step={50}
          onChange={setBandwidth}
        />
        <Slider
          label="Rows per tile"
          value={power}
          min={3}
          max={9}
          format={p => String(2 ** p)}
          onChange={setPower}
        />
        <Stats
          items={[
            ['FLOP per byte', Math.round(intensity)],
            ['Reachable', `${reached.toPrecision(3)} TFLOP/s`],
            ['Limited by', limit],
          ]}
        />
        <p className="note">
          {sequence} queries and keys, head size {headSize}, 16-bit numbers. Larger tiles reuse each loaded
          byte more often.
        </p>
      </div>
    </div>
  );
}
