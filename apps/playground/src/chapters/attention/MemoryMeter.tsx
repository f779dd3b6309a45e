import { memoryUse } from '../../logic/streaming/memory-use.ts';
import { useUrlNumber } from '../../state/url-state.ts';
import { useNumbers } from '../../text/numbers.ts';
import { useText } from '../../text/TextProvider.tsx';
import { Slider } from '../../ui/controls/Slider.tsx';
import './attention.css';

const headSize = 64;
const tile = 32;
const longest = 17;
const bytesPerNumber = 4;

/** The memory for scores and probabilities beside the memory for the running state, in f32, for one head. */
export function MemoryMeter() {
  const { attention: text } = useText();
  const { bytes, significant } = useNumbers();
  const [power, setPower] = useUrlNumber('keys', 12, { min: 6, max: longest });
  const use = memoryUse(2 ** power, headSize, tile);
  const rows = [
    [text.naive, bytesPerNumber * use.naive],
    [text.streaming, bytesPerNumber * use.streaming],
  ] as const;
  const most = Math.log2(bytesPerNumber * memoryUse(2 ** longest, headSize, tile).naive);
  return (
    <div className="stack">
      <Slider
        label={text.queriesAndKeys}
        value={power}
        min={6}
        max={longest}
        format={p => significant(2 ** p, 9)}
        onChange={setPower}
      />
      <dl className="meters">
        {rows.map(([label, count]) => (
          <div key={label}>
            <dt>{label}</dt>
            <dd>
              <span className="bar" style={{ inlineSize: `${(80 * Math.log2(count)) / most}%` }} />
              <span className="mono">{bytes(count)}</span>
            </dd>
          </div>
        ))}
      </dl>
      <p>{text.timesLess(significant(use.naive / use.streaming, 3))}</p>
      <p className="note">{text.memoryNote(headSize, tile)}</p>
    </div>
  );
}
