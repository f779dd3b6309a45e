import { useMemo, useRef } from 'react';
import { ProgramEditor } from '../../exercises/workbench/editor/ProgramEditor.tsx';
import { ProgramToolbar } from '../../exercises/workbench/editor/ProgramToolbar.tsx';
import { HintLadder } from '../../exercises/workbench/HintLadder.tsx';
import { SolutionText } from '../../exercises/workbench/Solution.tsx';
import { headerOf } from '../../logic/kernels/puzzles/header.ts';
import { solutionOf } from '../../logic/kernels/puzzles/programs.ts';
import type { Puzzle } from '../../logic/kernels/puzzles/puzzles.ts';
import type { ProgramOfExercise } from '../../state/kept-programs.ts';
import { useChapterText } from '../../text/useChapterText.ts';
import { ScrollRegion } from '../../ui/figures/ScrollRegion.tsx';
import { Rich } from '../../ui/prose/Rich.tsx';
import '../../exercises/workbench/workbench.css';
import { KernelVerdict } from './KernelVerdict.tsx';
import { useJudge } from './useJudge.ts';

const noCompletions = () => ({ replace: 0, options: [] });

/** A kernel to write: the editor, the header that is given, a run and its verdict, hints and a solution. */
export function KernelBench({ puzzle, kept }: { readonly puzzle: Puzzle; readonly kept: ProgramOfExercise }) {
  const text = useChapterText('kernels');
  const words = text.puzzles[puzzle.id];
  const bench = useRef<HTMLDivElement>(null);
  const { run, running, start } = useJudge(puzzle);
  const { program } = kept;
  const changed = run !== null && run.program !== program;
  const errors = useMemo(() => {
    const failure = run && 'judgement' in run && run.judgement.kind === 'failed' && run.judgement.failure;
    return !changed && failure && failure.kind === 'compiler' ? failure.errors : [];
  }, [run, changed]);
  const begin = (): void => {
    if (!running) start(program);
  };
  return (
    <>
      <div className="kernel-bench" ref={bench}>
        <div className="kernel-given">
          <h3>{text.given}</h3>
          <ScrollRegion label={text.given}>
            <pre>{headerOf(puzzle, 16).replaceAll(/@group\(0\) @binding\(\d\) /g, '')}</pre>
          </ScrollRegion>
          <p className="note">
            <Rich text={text.dispatch[puzzle.workgroup]} />
          </p>
        </div>
        <div className="kernel-editor">
          <ProgramEditor
            label={text.program(words.title)}
            placeholder={text.placeholder}
            value={program}
            onChange={kept.edit}
            onRun={begin}
            errors={errors}
            line={null}
            complete={noCompletions}
            language="wgsl"
          />
        </div>
        <div className="kernel-side">
          <ProgramToolbar kept={kept} editorIn={bench}>
            <button
              type="button"
              className="button primary"
              title={text.runKeys}
              aria-disabled={running}
              onClick={begin}
            >
              {text.run}
            </button>
          </ProgramToolbar>
          <div role="status">
            <KernelVerdict run={run} changed={changed} />
          </div>
        </div>
      </div>
      <HintLadder hints={words.hints}>
        <SolutionText program={solutionOf(puzzle.id)} onTake={kept.replace} />
      </HintLadder>
    </>
  );
}
