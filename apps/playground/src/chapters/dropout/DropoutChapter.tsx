import { type DropoutSchemeName, dropoutMask } from '@tilewise/philox';
import { useMemo, useState } from 'react';
import { differences } from '../../logic/dropout-trace/engine-mask.ts';
import { maskStatistics } from '../../logic/dropout-trace/statistics.ts';
import { traceElement } from '../../logic/dropout-trace/trace-element.ts';
import { useUrlChoice, useUrlNumber, useUrlState } from '../../state/url-state.ts';
import { useNumbers } from '../../text/numbers.ts';
import { say } from '../../text/say.ts';
import { useChapterText } from '../../text/useChapterText.ts';
import { Slider } from '../../ui/controls/Slider.tsx';
import { Stats } from '../../ui/figures/Stats.tsx';
import { Formula } from '../../ui/formulas/Formula.tsx';
import { References } from '../../ui/prose/References.tsx';
import { Reveal } from '../../ui/prose/Reveal.tsx';
import { Paragraphs, Rich } from '../../ui/prose/Rich.tsx';
import { Section } from '../../ui/prose/Section.tsx';
import './dropout.css';
import { formulas } from '../formulas.ts';
import { ElementInspector } from './ElementInspector.tsx';
import { MaskCanvas } from './MaskCanvas.tsx';
import { Neighbourhood } from './Neighbourhood.tsx';
import { useEngineMasks } from './useEngineMasks.ts';

const size = 64;
const shape = { H: 1, Sq: size, Skv: size } as const;
const schemes: readonly DropoutSchemeName[] = ['torch-efficient', 'flash-attention-2', 'onednn'];

/** A mask that is never stored, and the origin of each of its bits. */
export default function DropoutChapter() {
  const words = useChapterText('dropout');
  const { fixed, percent, whole } = useNumbers();
  const [seed, setSeed] = useUrlState('seed', '1');
  const [offset, setOffset] = useUrlState('offset', '1');
  const [dropped, setDropped] = useUrlNumber('p', 20, { min: 5, max: 90 });
  const [i, setI] = useUrlNumber('i', 3, { min: 0, max: size - 1 });
  const [j, setJ] = useUrlNumber('j', 7, { min: 0, max: size - 1 });
  const [scheme, setScheme] = useUrlChoice('scheme', 'torch-efficient', schemes);
  const p = dropped / 100;
  const given = { seed: unsigned(seed), offset: unsigned(offset) };
  const valid = given.seed !== null && given.offset !== null;
  const source = { seed: useLast(given.seed) ?? 1n, offset: useLast(given.offset) ?? 1n };
  const masks = useMemo(
    () =>
      schemes.map(name => ({
        name,
        mask: dropoutMask({
          shape: [1, 1, size, size],
          scheme: name,
          p,
          seed: source.seed,
          offset: source.offset,
        }),
      })),
    [p, source.seed, source.offset],
  );
  const drawn = useEngineMasks({ p, ...source, size });
  const element = { scheme, p, ...source, ...shape, b: 0, h: 0, i, j };
  const trace = traceElement(element);
  const chosen = masks.find(({ name }) => name === scheme);
  const choose = (row: number, column: number): void => {
    setI(row);
    setJ(column);
  };
  const signed = (value: number, digits: number): string => `${value >= 0 ? '+' : ''}${fixed(value, digits)}`;
  return (
    <div className="stack">
      <div className="prose">
        <p>
          <Rich text={words.intro} />
        </p>
        <Formula block tex={formulas.dropout} />
      </div>
      <Section id="masks" title={words.oneSeed}>
        <div className="toolbar">
          <label className="field">
            {words.seed}
            <input
              value={seed}
              inputMode="numeric"
              aria-invalid={given.seed === null}
              onChange={event => setSeed(event.currentTarget.value)}
            />
          </label>
          <label className="field">
            {words.offset}
            <input
              value={offset}
              inputMode="numeric"
              aria-invalid={given.offset === null}
              onChange={event => setOffset(event.currentTarget.value)}
            />
          </label>
          <div data-symbol="p">
            <Slider
              label={words.share}
              value={dropped}
              min={5}
              max={90}
              step={5}
              format={value => percent(value / 100)}
              onChange={setDropped}
            />
          </div>
        </div>
        <p className="errors" role="alert">
          {valid ? '' : words.noNumber(String(source.seed), String(source.offset))}
        </p>
        <div className="masks" aria-busy={drawn === null}>
          {masks.map(({ name, mask }) => {
            const { kept, total, deviation, across, down } = maskStatistics(mask, size, p);
            const { title, unit } = words.schemes[name];
            const others = drawn === null || typeof drawn === 'string' ? null : drawn.masks[name];
            const differ = others && differences(mask, others);
            return (
              <figure key={name} data-chosen={name === scheme} data-symbol="M">
                <figcaption>
                  <strong>{title}</strong>
                  <span>{unit}</span>
                </figcaption>
                <MaskCanvas
                  label={words.maskLabel(title, i, j, mask[i * size + j] === 1)}
                  mask={mask}
                  rows={size}
                  columns={size}
                  at={[i, j]}
                  onChoose={(row, column) => {
                    setScheme(name);
                    choose(row, column);
                  }}
                />
                <p className="compared" data-same={differ === null ? undefined : differ === 0}>
                  {differ === null ? words.comparing : words.compared(differ, total, whole)}
                </p>
                <Stats
                  items={[
                    [words.keptShare, percent(kept / total, 1)],
                    [words.fromP, `${signed(deviation, 1)} σ`],
                    [words.across, signed(across, 3)],
                    [words.down, signed(down, 3)],
                  ]}
                />
              </figure>
            );
          })}
        </div>
        <p className="note" role="status">
          {drawn === null ? '' : typeof drawn === 'string' ? drawn : say(drawn.runsOn, words.comparedWith)}
        </p>
        <p className="note">{words.note}</p>
      </Section>
      <Section id="element" title={words.element(i, j, words.schemes[scheme].title)}>
        <div className="inspect">
          <div className="stack tight">
            {chosen && <Neighbourhood element={element} mask={chosen.mask} onChoose={choose} />}
            <p className="note">{words.mates}</p>
          </div>
          <ElementInspector trace={trace} />
        </div>
        <p>
          <Rich text={words.schemes[scheme].how} />
        </p>
      </Section>
      <div className="stack tight">
        <Reveal summary={words.why}>
          <Paragraphs text={words.whyAnswer} />
        </Reveal>
        <Reveal summary={words.keepMask}>
          <Paragraphs text={words.keepMaskAnswer} />
        </Reveal>
      </div>
      <References ids={['salmon']} />
    </div>
  );
}

/** The last value that was not null, so that figures stay while a visitor types. */
function useLast(value: bigint | null): bigint | null {
  const [last, setLast] = useState(value);
  if (value !== null && value !== last) setLast(value);
  return value ?? last;
}

/** The number that a visitor typed, or null if it is not an unsigned 64-bit integer. */
function unsigned(text: string): bigint | null {
  if (!/^\s*\d{1,20}\s*$/.test(text)) return null;
  const value = BigInt(text.trim());
  return value < 2n ** 64n ? value : null;
}
