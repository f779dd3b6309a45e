import { useEffect, useState, useSyncExternalStore } from 'react';
import type { AttentionMoment } from '../logic/train/training.ts';
import { createTraining } from '../logic/train/training-run.ts';
import { useNumbers } from '../text/numbers.ts';
import { useFirstText } from '../text/TextProvider.tsx';

/** Small, so that the model has learnt after about 15 seconds on a CPU. */
const setup = { engine: 'cpu', text: null, seed: 1, layers: 2, heads: 2, dim: 32, dropout: 0 } as const;
const steps = 300;
const width = 180;
const height = 60;

/** A transformer that starts to learn as soon as the page is there. */
export function LearningModel() {
  const { model: text, race } = useFirstText().home;
  const { percent } = useNumbers();
  const [training] = useState(() => createTraining({ kept: false }));
  const { state } = useSyncExternalStore(training.subscribe, training.view);
  useEffect(() => {
    const still = window.matchMedia('(prefers-reduced-motion: reduce)').matches;
    // Without motion, one step: it shows where the heads look before they have learnt.
    training.run(setup, still ? 1 : steps);
    return () => training.startOver();
  }, [training]);
  const running = state.status === 'running';
  const left = steps - state.accuracies.length;
  const recent = state.accuracies.slice(-10);
  const share = recent.reduce((sum, x) => sum + x, 0) / Math.max(1, recent.length);
  const moment = state.moments.at(-1);
  const proceed = (): void => {
    if (left <= 0) training.startOver();
    training.run(setup, left <= 0 ? steps : left);
  };
  const label = left <= 0 ? race.start : state.accuracies.length > 1 ? text.resume : text.start;
  return (
    <section className="opening-demo" aria-labelledby="model-title">
      <h2 id="model-title">{text.title}</h2>
      <p className="opening-note">{text.about}</p>
      <div className="opening-model">
        <Heads moment={moment} />
        <div>
          <svg
            className="learning-curve"
            viewBox={`0 0 ${width} ${height}`}
            role="img"
            aria-label={text.curve(percent(share))}
          >
            <path className="axis" d={`M0 ${height - 1}H${width}`} />
            <polyline
              points={state.accuracies
                .map((value, n) => `${(n / steps) * width},${height - 2 - value * (height - 6)}`)
                .join(' ')}
            />
          </svg>
          <p className="mono">
            {state.ready ? (
              <>
                {text.step} {state.accuracies.length} · {text.right} {percent(share)}
              </>
            ) : (
              running && text.loading
            )}
          </p>
        </div>
      </div>
      <div className="toolbar">
        <button type="button" className="button" onClick={running ? training.pause : proceed}>
          {running ? text.pause : label}
        </button>
        <a href="#/train">{text.more}</a>
      </div>
    </section>
  );
}

/** The heads of the last layer, dark where they look. */
function Heads({ moment }: { readonly moment: AttentionMoment | undefined }) {
  const { model: text } = useFirstText().home;
  const layer = moment?.layers.at(-1);
  if (!moment || !layer) return <div className="opening-heads" />;
  const { S, heads, values } = layer;
  return (
    <div className="opening-heads" role="img" aria-label={text.map(moment.step)}>
      {Array.from({ length: heads }, (_, h) => h).map(h => (
        <svg key={h} viewBox={`0 0 ${S} ${S}`} aria-hidden="true">
          {[...values.subarray(h * S * S, (h + 1) * S * S)]
            .map((p, n) => ({ p, n }))
            .filter(({ p }) => p > 0.02)
            .map(({ p, n }) => (
              <rect key={n} x={n % S} y={Math.floor(n / S)} width="1" height="1" opacity={Math.sqrt(p)} />
            ))}
        </svg>
      ))}
    </div>
  );
}
