import { useUrlNumber } from '../../app/url-state.ts';
import { memoryUse } from '../../streaming/memory-use.ts';
import { Slider } from '../../ui/Slider.tsx';
import './attention.css';

const headSize = 64;
const tile = 32;
const units = ['B', 'KiB', 'MiB', 'GiB', 'TiB'] as const;

function bytes(count: number): string {
  const power = Math.min(units.length - 1, Math.floor(Math.log2(Math.max(1, count)) / 10));
  const value = count / 1024 ** power;
  return `${value < 10 && power > 0 ? value.toFixed(1) : Math.round(value)} ${units[power]}`;
}

/** Memory of the scores and probabilities beside that of the running state, in f32, for one head. */
export function MemoryMeter() {
  const [power, setPower] = useUrlNumber('keys', 12, { min: 6, max: 17 });
  const n = 2 ** power;
  const use = memoryUse(n, headSize, tile);
  const rows = [
    ['Scores and probabilities, n × n', 4 * use.naive],
    ['One tile and its running state', 4 * use.streaming],
  ] as const;
  const log = (count: number): number => Math.log2(count);
  const most = log(4 * memoryUse(2 ** 17, headSize, tile).naive);
  return (
    <div className="stack">
      <Slider
        label="Queries and keys"
        value={power}
        min={6}
        max={17}
        format={p => (2 ** p).toLocaleString('en')}
        onChange={setPower}
      />
      <dl className="meters">
        {rows.map(([label, count]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              <span className="bar" style={{ inlineSize: `${(100 * log(count)) / most}%` }} />
              <span className="mono">{bytes(count)}</span>
            </dd>
          </div>
        ))}
      </dl>
      <p className="note">
        Logarithmic bars; one head in 32-bit floats, head size {headSize}, tiles of {tile} × {tile}. The
        inputs are not counted.
      </p>
    </div>
  );
}
