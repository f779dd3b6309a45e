import { type DropoutSchemeName, dropoutMask } from '@tilewise/philox';
import { useMemo } from 'react';
import { useUrlNumber, useUrlState } from '../../app/url-state.ts';
import { maskStatistics } from '../../dropout-trace/statistics.ts';
import { traceElement } from '../../dropout-trace/trace-element.ts';
import { Slider } from '../../ui/Slider.tsx';
import { Stats } from '../../ui/Stats.tsx';
import '../attention/attention.css';
import './dropout.css';
import { ElementInspector } from './ElementInspector.tsx';
import { MaskCanvas } from './MaskCanvas.tsx';

const size = 64;
const shape = { H: 1, Sq: size, Skv: size } as const;
const schemes: readonly {
  readonly name: DropoutSchemeName;
  readonly title: string;
  readonly unit: string;
}[] = [
  { name: 'torch-efficient', title: 'PyTorch, memory-efficient', unit: 'one word per element, 10 rounds' },
  { name: 'flash-attention-2', title: 'FlashAttention-2', unit: 'one byte per element, 7 rounds' },
  { name: 'onednn', title: 'oneDNN', unit: 'one word per element, 10 rounds' },
];

/** Chapter 6: a mask that is never stored, and where each bit of it comes from. */
export default function DropoutChapter() {
  const [seed, setSeed] = useUrlState('seed', '42');
  const [offset, setOffset] = useUrlState('offset', '1');
  const [percent, setPercent] = useUrlNumber('p', 20, { min: 0, max: 90 });
  const [i, setI] = useUrlNumber('i', 3, { min: 0, max: size - 1 });
  const [j, setJ] = useUrlNumber('j', 7, { min: 0, max: size - 1 });
  const [scheme, setScheme] = useUrlState('scheme', 'torch-efficient');
  const p = percent / 100;
  const numbers = { seed: unsigned(seed), offset: unsigned(offset) };
  const valid = numbers.seed !== null && numbers.offset !== null;
  const words = { seed: numbers.seed ?? 0n, offset: numbers.offset ?? 0n };
  const masks = useMemo(
    () =>
      schemes.map(({ name }) =>
        dropoutMask({ shape: [1, 1, size, size], scheme: name, p, seed: words.seed, offset: words.offset }),
      ),
    [p, words.seed, words.offset],
  );
  const chosen = schemes.find(({ name }) => name === scheme) ?? schemes[0];
  if (!chosen) return null;
  const trace = traceElement({ scheme: chosen.name, p, ...words, ...shape, b: 0, h: 0, i, j });
  return (
    <div className="stack">
      <div className="prose">
        <p>
          Dropout throws each attention weight away with probability p. To store which, one would need as many
          bits as there are weights. Instead every bit is computed when it is needed, from a seed and from
          where it is: Philox turns a counter into random words, and the same counter into the same words, in
          forward and in backward, on any machine.
        </p>
      </div>
      <section className="panel" aria-labelledby="masks-title">
        <h2 id="masks-title">One seed, three conventions</h2>
        <div className="toolbar">
          <label className="field">
            Seed
            <input
              value={seed}
              inputMode="numeric"
              aria-invalid={numbers.seed === null}
              onChange={event => setSeed(event.currentTarget.value)}
            />
          </label>
          <label className="field">
            Offset
            <input
              value={offset}
              inputMode="numeric"
              aria-invalid={numbers.offset === null}
              onChange={event => setOffset(event.currentTarget.value)}
            />
          </label>
          <Slider
            label="Dropped"
            value={percent}
            min={0}
            max={90}
            step={5}
            format={value => `${value} %`}
            onChange={setPercent}
          />
        </div>
        <p className="errors" role="alert">
          {valid ? '' : 'Seed and offset are whole numbers from 0 to 2⁶⁴ − 1.'}
        </p>
        <div className="masks">
          {schemes.map(({ name, title, unit }, n) => {
            const mask = masks[n] ?? new Uint8Array(size * size);
            const { kept, total, deviation, correlation } = maskStatistics(mask, size, p);
            return (
              <figure key={name} data-chosen={name === chosen.name}>
                <figcaption>
                  <strong>{title}</strong>
                  <span>{unit}</span>
                </figcaption>
                <MaskCanvas
                  label={title}
                  mask={mask}
                  rows={size}
                  columns={size}
                  at={[i, j]}
                  onChoose={(row, column) => {
                    setScheme(name);
                    setI(row);
                    setJ(column);
                  }}
                />
                <Stats
                  items={[
                    ['Kept', `${((100 * kept) / total).toFixed(1)} %`],
                    ['From p', `${deviation >= 0 ? '+' : '−'}${Math.abs(deviation).toFixed(1)} σ`],
                    ['Neighbours', correlation.toFixed(3).replace('-', '−')],
                  ]}
                />
              </figure>
            );
          })}
        </div>
        <p className="note">
          64 queries × 64 keys; light is kept. FlashAttention-2 compares bytes, so its probability is a
          multiple of 1/256. “Neighbours” is the correlation of elements side by side.
        </p>
      </section>
      <section className="panel" aria-labelledby="element-title">
        <h2 id="element-title">
          Query {i}, key {j}: {chosen.title}
        </h2>
        <ElementInspector trace={trace} />
      </section>
    </div>
  );
}

/** The number that a visitor typed, or null when it is no unsigned 64-bit integer. */
function unsigned(text: string): bigint | null {
  if (!/^\s*\d{1,20}\s*$/.test(text)) return null;
  const value = BigInt(text.trim());
  return value < 2n ** 64n ? value : null;
}
