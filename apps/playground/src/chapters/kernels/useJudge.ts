import { useEffect, useRef, useState } from 'react';
import type { PuzzleGpu } from '../../logic/kernels/gpu/puzzle-gpu.ts';
import type { Judgement, Stage } from '../../logic/kernels/judge.ts';
import { type Puzzle, taskOf } from '../../logic/kernels/puzzles/puzzles.ts';
import { noteDone } from '../../state/progress.ts';

/** A run of a program: in progress, or judged. */
export type KernelRun =
  | { readonly program: string; readonly stage: Stage }
  | { readonly program: string; readonly judgement: Judgement };

let opened: PuzzleGpu | null = null;

/** Judges programs of a puzzle on the visitor's GPU; the code for this is loaded by the first run. */
export function useJudge(puzzle: Puzzle) {
  const [run, setRun] = useState<KernelRun | null>(null);
  const current = useRef(true);
  useEffect(() => {
    current.current = true;
    return () => {
      current.current = false;
    };
  }, []);
  const start = async (program: string): Promise<void> => {
    const show = (next: KernelRun): void => {
      if (current.current) setRun(next);
    };
    show({ program, stage: { kind: 'compiling' } });
    try {
      const [{ judge }, { PuzzleGpu }] = await Promise.all([
        import('../../logic/kernels/judge.ts'),
        import('../../logic/kernels/gpu/puzzle-gpu.ts'),
      ]);
      opened ??= new PuzzleGpu('gpu' in navigator ? navigator.gpu : undefined);
      const judgement = await judge(opened, puzzle, program, stage => show({ program, stage }));
      show({ program, judgement });
      if (judgement.kind === 'right' && judgement.times) noteDone(taskOf(puzzle.id), judgement.times.own);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      show({ program, judgement: { kind: 'failed', failure: { kind: 'refused', message } } });
    }
  };
  return { run, running: run !== null && 'stage' in run, start };
}
