import { useState } from 'react';
import { mergeStates, output, type SoftmaxState, tileState } from '../../streaming/softmax-state.ts';
import { example } from './example.ts';
import './attention.css';

interface Part {
  readonly label: string;
  readonly state: SoftmaxState;
}

const tileSize = 3;
const tiles: readonly Part[] = Array.from({ length: example.x.length / tileSize }, (_, t) => ({
  label: `keys ${t * tileSize} to ${(t + 1) * tileSize - 1}`,
  state: tileState(
    example.x.slice(t * tileSize, (t + 1) * tileSize),
    example.v.slice(t * tileSize, (t + 1) * tileSize),
  ),
}));
const whole = output(tileState(example.x, example.v));
const shown = (value: number): string => value.toFixed(3).replace('-', '−');

/** Four tiles to be merged two by two, in any order. */
export function MergeByHand() {
  const [parts, setParts] = useState<readonly Part[]>(tiles);
  const [chosen, setChosen] = useState<number | null>(null);
  const press = (n: number): void => {
    const [a, b] = [chosen === null ? undefined : parts[chosen], parts[n]];
    if (chosen === null || chosen === n || !a || !b) {
      setChosen(chosen === n ? null : n);
      return;
    }
    const merged = { label: `${a.label} + ${b.label}`, state: mergeStates(a.state, b.state).state };
    setParts([...parts.filter((_, k) => k !== chosen && k !== n), merged]);
    setChosen(null);
  };
  const [last] = parts;
  const done = parts.length === 1 && last;
  return (
    <div className="stack">
      <p className="note">
        {done
          ? 'One state is left.'
          : chosen === null
            ? 'Choose a tile, then the one to merge it with.'
            : 'With which one?'}
      </p>
      <div className="merge">
        {parts.map(({ label, state }, n) => (
          <button
            key={label}
            type="button"
            className="tile"
            aria-pressed={n === chosen}
            onClick={() => press(n)}
          >
            <strong>{label}</strong>
            <span>m = {shown(state.m)}</span>
            <span>d = {shown(state.d)}</span>
            <span>num = ({state.num.map(shown).join(', ')})</span>
          </button>
        ))}
      </div>
      {done && (
        <p className="solved" role="status">
          num / d = ({output(last.state).map(shown).join(', ')}), and computed at once (
          {whole.map(shown).join(', ')}).
        </p>
      )}
      <div className="toolbar">
        <button type="button" className="button" onClick={() => setParts(tiles)} disabled={parts === tiles}>
          Start again
        </button>
      </div>
    </div>
  );
}
