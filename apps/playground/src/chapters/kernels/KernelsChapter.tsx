import { starterOf } from '../../logic/kernels/puzzles/programs.ts';
import { puzzleIds, puzzleOf, taskOf } from '../../logic/kernels/puzzles/puzzles.ts';
import { useProgram } from '../../state/kept-programs.ts';
import { useProgress } from '../../state/progress.ts';
import { useUrlChoice } from '../../state/url-state.ts';
import { useChapterText } from '../../text/useChapterText.ts';
import { Segmented } from '../../ui/controls/Segmented.tsx';
import { Formula } from '../../ui/formulas/Formula.tsx';
import { References } from '../../ui/prose/References.tsx';
import { Paragraphs, Rich } from '../../ui/prose/Rich.tsx';
import { KernelBench } from './KernelBench.tsx';
import './kernels.css';
import { SectionTitle } from '../../ui/prose/SectionTitle.tsx';
import { formulas } from '../formulas.ts';

/** Kernels in WGSL, to be written and run on the visitor's own GPU. */
export default function KernelsChapter() {
  const text = useChapterText('kernels');
  const progress = useProgress();
  const [id, setId] = useUrlChoice('puzzle', 'naive', puzzleIds);
  const kept = useProgram(taskOf(id), starterOf(id));
  const words = text.puzzles[id];
  return (
    <div className="stack">
      <div className="prose">
        <Paragraphs text={text.intro} />
        <Formula block tex={formulas.passes} />
      </div>
      <section className="panel" id="exercise" aria-labelledby="exercise-title">
        <Segmented
          label={text.label}
          value={id}
          options={puzzleIds.map((value, n) => ({
            value,
            label: `${n + 1} ${text.puzzles[value].short}${progress[taskOf(value)] === undefined ? '' : ' ✓'}`,
          }))}
          onChange={next => {
            kept.open(taskOf(next), starterOf(next));
            setId(next);
          }}
        />
        <SectionTitle id="exercise-title">{words.title}</SectionTitle>
        <p className="kernel-task">
          <Rich text={words.task} />
        </p>
        <KernelBench key={id} puzzle={puzzleOf(id)} kept={kept} />
      </section>
      <References ids={['dao', 'milakov', 'rabe']} />
    </div>
  );
}
