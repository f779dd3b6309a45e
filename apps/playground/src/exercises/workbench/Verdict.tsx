import { useEffect } from 'react';
import { noteDone, useProgress } from '../../state/progress.ts';
import { useText } from '../../text/TextProvider.tsx';

/** The verdict on a program that solves an exercise: its score, the visitor's best, and the best known. */
export function Verdict(props: {
  readonly exercise: string;
  readonly cycles: number;
  /** Cycles of the best program known for this machine; null if the exercise's own text gives them. */
  readonly bestKnown: number | null;
  readonly remark: string;
}) {
  const { exercise, cycles, bestKnown, remark } = props;
  const { bench } = useText();
  const best = useProgress()[exercise] ?? cycles;
  useEffect(() => noteDone(exercise, cycles), [exercise, cycles]);
  return (
    <p className="solved" role="status">
      {bench.solved(cycles)} {remark} {bestKnown !== null && bench.bestKnown(cycles, bestKnown)}{' '}
      {best < cycles && bench.ownBest(best)}
    </p>
  );
}
