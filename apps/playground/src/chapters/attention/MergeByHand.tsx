import { useState } from 'react';
import {
  type Group,
  groupState,
  lastMerge,
  mergeGroups,
  readMerging,
  unmerged,
  writeMerging,
} from '../../logic/streaming/merge-tree.ts';
import { output, tileState } from '../../logic/streaming/softmax-state.ts';
import { useUrlState } from '../../state/url-state.ts';
import { useNumbers } from '../../text/numbers.ts';
import { useText } from '../../text/TextProvider.tsx';
import { example } from './example.ts';
import { MergeEquations } from './MergeEquations.tsx';
import './attention.css';

const tileSize = 3;
const tiles = Array.from({ length: example.x.length / tileSize }, (_, t) => {
  const keys = [t * tileSize, (t + 1) * tileSize] as const;
  return tileState(example.x.slice(...keys), example.v.slice(...keys));
});
const start = writeMerging(unmerged(tiles.length));
const whole = output(tileState(example.x, example.v));

/** Four tiles to be merged two by two, in any order. */
export function MergeByHand() {
  const { attention: text } = useText();
  const numbers = useNumbers();
  const { fixed } = numbers;
  const [written, write] = useUrlState('merge', start);
  const [chosen, setChosen] = useState<number | null>(null);
  const merging = readMerging(written, tiles.length);
  const { groups, last } = merging;
  const merge = lastMerge(merging, tiles);
  const number = (value: number): string => fixed(value, 3);
  const vector = (values: readonly number[]): string => numbers.vector(values, 3);
  const label = (group: Group): string =>
    group.map(t => text.keys(t * tileSize, (t + 1) * tileSize - 1)).join(' + ');
  const press = (g: number): void => {
    if (chosen === null || chosen === g) {
      setChosen(chosen === g ? null : g);
      return;
    }
    write(writeMerging(mergeGroups(merging, chosen, g)));
    setChosen(null);
  };
  const [only] = groups;
  const done = groups.length === 1 && only !== undefined;
  return (
    <div className="stack">
      <p className="note" role="status">
        {done ? text.oneLeft : chosen === null ? text.chooseTile : text.withWhich}
      </p>
      <div className="merge">
        {groups.map((group, g) => {
          const state = groupState(group, tiles);
          return (
            <button
              key={label(group)}
              type="button"
              className="tile"
              aria-pressed={g === chosen}
              data-merged={group.length > 1}
              onClick={() => press(g)}
            >
              <strong>{label(group)}</strong>
              <span>m = {number(state.m)}</span>
              <span>d = {number(state.d)}</span>
              <span>num = {vector(state.num)}</span>
            </button>
          );
        })}
      </div>
      {last && merge && (
        <MergeEquations a={groupState(last.a, tiles)} b={groupState(last.b, tiles)} merge={merge} />
      )}
      {done && (
        <p className="solved" role="status">
          {text.merged(vector(output(groupState(only, tiles))), vector(whole))}
        </p>
      )}
      <div className="toolbar">
        <button type="button" className="button" onClick={() => write(start)} disabled={last === null}>
          {text.startAgain}
        </button>
      </div>
    </div>
  );
}
