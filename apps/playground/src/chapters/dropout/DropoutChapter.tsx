import { type DropoutSchemeName, dropoutMask } from '@tilewise/philox';
import { useMemo } from 'react';
import { traceElement } from '../../logic/dropout-trace/trace-element.ts';
import { useUrlChoice, useUrlNumber } from '../../state/url-state.ts';
import { useNumbers } from '../../text/numbers.ts';
import { say } from '../../text/say.ts';
import { useChapterText } from '../../text/useChapterText.ts';
import { Slider } from '../../ui/controls/Slider.tsx';
import { Formula } from '../../ui/formulas/Formula.tsx';
import { References } from '../../ui/prose/References.tsx';
import { Reveal } from '../../ui/prose/Reveal.tsx';
import { Paragraphs, Rich } from '../../ui/prose/Rich.tsx';
import { Section } from '../../ui/prose/Section.tsx';
import './dropout.css';
import { formulas } from '../formulas.ts';
import { ComparedMask } from './ComparedMask.tsx';
import { ElementInspector } from './ElementInspector.tsx';
import { Neighbourhood } from './Neighbourhood.tsx';
import { useEngineMasks } from './useEngineMasks.ts';
import { type IntegerField, useRandomSource } from './useRandomSource.ts';

const size = 64;
const shape = { H: 1, Sq: size, Skv: size } as const;
const schemes: readonly DropoutSchemeName[] = ['torch-efficient', 'flash-attention-2', 'onednn'];

/** A mask that is never stored, and the origin of each of its bits. */
export default function DropoutChapter() {
  const words = useChapterText('dropout');
  const { percent } = useNumbers();
  const { seed, offset } = useRandomSource();
  const [dropped, setDropped] = useUrlNumber('p', 20, { min: 5, max: 90 });
  const [i, setI] = useUrlNumber('i', 3, { min: 0, max: size - 1 });
  const [j, setJ] = useUrlNumber('j', 7, { min: 0, max: size - 1 });
  const [scheme, setScheme] = useUrlChoice('scheme', 'torch-efficient', schemes);
  const source = { p: dropped / 100, seed: seed.value, offset: offset.value };
  const masks = useMasks(source);
  const drawn = useEngineMasks({ ...source, size });
  const element = { scheme, ...source, ...shape, b: 0, h: 0, i, j };
  const choose = (row: number, column: number): void => {
    setI(row);
    setJ(column);
  };
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
          <NumberInput label={words.seed} field={seed} />
          <NumberInput label={words.offset} field={offset} />
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
          {seed.isValid && offset.isValid ? '' : words.noNumber(String(seed.value), String(offset.value))}
        </p>
        <div className="masks" aria-busy={drawn === null}>
          {schemes.map(name => (
            <ComparedMask
              key={name}
              scheme={name}
              mask={masks[name]}
              drawn={drawn === null || typeof drawn === 'string' ? null : drawn.masks[name]}
              size={size}
              p={source.p}
              at={[i, j]}
              isChosen={name === scheme}
              onChoose={(row, column) => {
                setScheme(name);
                choose(row, column);
              }}
            />
          ))}
        </div>
        <p className="note" role="status">
          {drawn === null ? '' : typeof drawn === 'string' ? drawn : say(drawn.runsOn, words.comparedWith)}
        </p>
        <p className="note">{words.note}</p>
      </Section>
      <Section id="element" title={words.element(i, j, words.schemes[scheme].title)}>
        <div className="inspect">
          <div className="stack tight">
            <Neighbourhood element={element} mask={masks[scheme]} onChoose={choose} />
            <p className="note">{words.mates}</p>
          </div>
          <ElementInspector trace={traceElement(element)} />
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

function NumberInput({ label, field }: { readonly label: string; readonly field: IntegerField }) {
  return (
    <label className="field">
      {label}
      <input
        value={field.text}
        inputMode="numeric"
        aria-invalid={!field.isValid}
        onChange={event => field.setText(event.currentTarget.value)}
      />
    </label>
  );
}

/** The masks of all schemes, drawn on this page. */
function useMasks(source: {
  readonly p: number;
  readonly seed: bigint;
  readonly offset: bigint;
}): Readonly<Record<DropoutSchemeName, Uint8Array>> {
  const { p, seed, offset } = source;
  return useMemo(() => {
    const draw = (scheme: DropoutSchemeName): Uint8Array =>
      dropoutMask({ shape: [1, 1, size, size], scheme, p, seed, offset });
    return {
      'torch-efficient': draw('torch-efficient'),
      'flash-attention-2': draw('flash-attention-2'),
      onednn: draw('onednn'),
    };
  }, [p, seed, offset]);
}
