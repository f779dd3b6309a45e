import { useEffect, useMemo, useState } from 'react';
import { loadEngine, type RunsOn } from '../../engine/engine.ts';
import { type HeatMaps, heatMaps } from '../../logic/lab/heat-maps.ts';
import { labMasks } from '../../logic/lab/lab-masks.ts';
import { useUrlChoice, useUrlNumber } from '../../state/url-state.ts';
import { useNumbers } from '../../text/numbers.ts';
import { say } from '../../text/say.ts';
import { useText } from '../../text/TextProvider.tsx';
import { Segmented } from '../../ui/controls/Segmented.tsx';
import { Slider } from '../../ui/controls/Slider.tsx';
import { Formula } from '../../ui/formulas/Formula.tsx';
import { MaskTiles } from '../../ui/tiles/MaskTiles.tsx';
import { HeatMap } from './HeatMap.tsx';
import './lab.css';
import { SectionTitle } from '../../ui/prose/SectionTitle.tsx';
import { formulas } from '../formulas.ts';

const ids = labMasks.map(({ id }) => id);
const none = { min: 0, max: 0, initial: 0 } as const;
/** The maps, and the symbols of the quantities that they show. */
const kinds = [
  ['scores', 'S'],
  ['probabilities', 'P'],
  ['gradients', 'dS'],
] as const;

/** A computed result, its number of queries and keys, and the engine that computed it. */
interface Result {
  readonly maps: HeatMaps;
  readonly S: number;
  readonly runsOn: RunsOn;
}

/** The lab: how masks and score modifications change scores, probabilities and gradients. */
export default function LabChapter() {
  const { lab: text, engine: engineText } = useText();
  const { percent, significant } = useNumbers();
  const [id, setId] = useUrlChoice('mask', 'causal', ids);
  const mask = labMasks.find(m => m.id === id);
  const { min, max, initial } = mask?.value ?? none;
  const [steps, setSteps] = useUrlNumber('value', initial, { min, max });
  const S = mask?.S ?? 0;
  const [i, setI] = useUrlNumber('i', 12, { min: 0, max: 511 });
  const [j, setJ] = useUrlNumber('j', 9, { min: 0, max: 511 });
  const [result, setResult] = useState<Result | string | null>(null);
  const value = steps * (mask?.value?.unit ?? 1);

  useEffect(() => {
    let current = true;
    if (!mask) return;
    // A slider passes many values on its way: only the value that it rests on is computed.
    const timer = setTimeout(() => {
      loadEngine()
        .then(async engine => ({
          maps: await heatMaps(engine, mask.S, mask.options(value)),
          S: mask.S,
          runsOn: engine.runsOn,
        }))
        .catch((error: unknown) => (error instanceof Error ? error.message : String(error)))
        .then(found => {
          if (current) setResult(found);
        });
    }, 80);
    return () => {
      current = false;
      clearTimeout(timer);
    };
  }, [mask, value]);

  const done = result !== null && typeof result !== 'string' ? result : null;
  const seen = useMemo(
    () => (done ? done.maps.scores.filter(x => !Number.isNaN(x)).length / done.S ** 2 : 0),
    [done],
  );

  if (!mask) return null;
  const words = text.masks[mask.id];
  const at = [Math.min(i, (done?.S ?? S) - 1), Math.min(j, (done?.S ?? S) - 1)] as const;
  const choose = (row: number, column: number): void => {
    setI(row);
    setJ(column);
  };
  return (
    <div className="stack">
      <div className="prose">
        <p>{text.intro(S)}</p>
        <Formula block tex={formulas.scores} />
      </div>
      <section className="panel" aria-labelledby="lab-title">
        <Segmented
          label={text.mask}
          value={mask.id}
          options={ids.map(option => ({ value: option, label: text.masks[option].title }))}
          onChange={next => {
            setSteps(initial);
            setId(next);
          }}
        />
        <SectionTitle id="lab-title">{words.title}</SectionTitle>
        <p>{words.about}</p>
        <div className="toolbar">
          <code className="options">sdpa(q, k, v, {mask.code(value)})</code>
          {mask.value && 'value' in words && (
            <Slider
              label={words.value}
              value={steps}
              min={min}
              max={max}
              format={step => significant(step * (mask.value?.unit ?? 1), 4)}
              onChange={setSteps}
            />
          )}
        </div>
        <div className="heats" aria-busy={result === null}>
          {done &&
            kinds.map(([kind, symbol]) => (
              <HeatMap
                key={kind}
                title={text[kind]}
                symbol={symbol}
                values={done.maps[kind]}
                S={done.S}
                tile={mask.tile}
                at={at}
                onChoose={choose}
              />
            ))}
        </div>
        {done && <MaskTiles scores={done.maps.scores} S={done.S} tile={mask.tile ?? 8} known={mask.known} />}
        <p className="note" role="status">
          {done
            ? `${text.pair(...at)}. ${text.seen(percent(seen, 1))} ${say(done.runsOn, engineText.runsOn)}`
            : ((result as string | null) ?? engineText.looking)}
        </p>
      </section>
    </div>
  );
}
