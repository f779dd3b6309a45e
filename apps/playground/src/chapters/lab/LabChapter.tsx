import { useEffect, useState } from 'react';
import { useUrlNumber, useUrlState } from '../../app/url-state.ts';
import { loadEngine } from '../../engine/engine.ts';
import { type HeatMaps, heatMaps } from '../../lab/heat-maps.ts';
import { labMasks } from '../../lab/lab-masks.ts';
import { Segmented } from '../../ui/Segmented.tsx';
import { HeatMap } from './HeatMap.tsx';
import './lab.css';

const S = 24;
const [firstMask] = labMasks;

/** Chapter 8: what masks and modifications do to scores, probabilities and gradients. */
export default function LabChapter() {
  const [id, setId] = useUrlState('mask', 'causal');
  const [i, setI] = useUrlNumber('i', 12, { min: 0, max: S - 1 });
  const [j, setJ] = useUrlNumber('j', 9, { min: 0, max: S - 1 });
  const mask = labMasks.find(m => m.id === id) ?? firstMask;
  const [maps, setMaps] = useState<HeatMaps | null>(null);
  const [note, setNote] = useState('Looking for a GPU…');

  useEffect(() => {
    let current = true;
    if (!mask) return;
    loadEngine()
      .then(async engine => {
        const result = await heatMaps(engine, S, mask.options(S));
        if (!current) return;
        setNote(engine.note);
        setMaps(result);
      })
      .catch((error: unknown) => {
        if (current) setNote(error instanceof Error ? error.message : String(error));
      });
    return () => {
      current = false;
    };
  }, [mask]);

  if (!mask) return null;
  const choose = (row: number, column: number): void => {
    setI(row);
    setJ(column);
  };
  const at = [i, j] as const;
  return (
    <div className="stack">
      <div className="prose">
        <p>
          One head, {S} queries (downwards) and {S} keys (to the right). Hatched pairs are hidden: they get no
          weight and no gradient.
        </p>
      </div>
      <section className="panel" aria-labelledby="lab-title">
        <Segmented
          label="Mask"
          value={mask.id}
          options={labMasks.map(m => ({ value: m.id, label: m.title }))}
          onChange={setId}
        />
        <h2 id="lab-title">{mask.title}</h2>
        <p>{mask.about}</p>
        <p>
          <code>sdpa(q, k, v, {mask.code})</code>
        </p>
        <div className="heats" aria-busy={maps === null}>
          {maps && (
            <>
              <HeatMap
                title="Scores"
                values={maps.scores}
                S={S}
                scale="diverging"
                at={at}
                onChoose={choose}
              />
              <HeatMap
                title="Probabilities P"
                values={maps.probabilities}
                S={S}
                scale="sequential"
                at={at}
                onChoose={choose}
              />
              <HeatMap
                title="Gradients of the scores"
                values={maps.gradients}
                S={S}
                scale="diverging"
                at={at}
                onChoose={choose}
              />
            </>
          )}
        </div>
        <p className="note" role="status">
          Query {i}, key {j}. {note}
        </p>
      </section>
    </div>
  );
}
