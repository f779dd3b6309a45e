import { lazy } from 'react';
import { Quiz } from '../../exercises/quiz/Quiz.tsx';
import { AttentionExercises } from '../../exercises/workbench/AttentionExercises.tsx';
import { useText } from '../../text/TextProvider.tsx';
import { WhenNear } from '../../ui/figures/WhenNear.tsx';
import { Formula } from '../../ui/formulas/Formula.tsx';
import { References } from '../../ui/prose/References.tsx';
import { Reveal } from '../../ui/prose/Reveal.tsx';
import { Paragraphs, Rich } from '../../ui/prose/Rich.tsx';
import { Section } from '../../ui/prose/Section.tsx';
import './loops.css';
import { formulas } from '../formulas.ts';
import { Roofline } from './Roofline.tsx';
import { Schedules } from './Schedules.tsx';

const KernelWalk = lazy(() => import('../../ui/tiles/KernelWalk.tsx'));

/** Traffic between slow and fast memory, with either loop as the outer one. */
export default function LoopsChapter() {
  const all = useText();
  const { loops: text } = all;
  return (
    <div className="stack">
      <div className="prose">
        <p>
          <Rich text={text.intro} />
        </p>
      </div>
      <Section id="schedules" title={text.side}>
        <p>
          <Rich text={text.sideWhy} />
        </p>
        <Schedules />
      </Section>
      <AttentionExercises ids={['queries-outside', 'keys-outside', 'two-queries']} />
      <div className="stack tight">
        <Reveal summary={text.whyNotAll}>
          <Paragraphs text={text.whyNotAllAnswer} />
        </Reveal>
        <Reveal summary={text.whyTwo}>
          <Paragraphs text={text.whyTwoAnswer} />
        </Reveal>
      </div>
      <Section id="kernel" title={all.tiles.title}>
        <p>
          <Rich text={all.tiles.intro} />
        </p>
        <WhenNear className="kernel-place">
          <KernelWalk />
        </WhenNear>
      </Section>
      <Section id="roofline" title={text.roofline}>
        <Roofline
          before={
            <p>
              <Rich text={text.rooflineWhy} />
            </p>
          }
          after={
            <>
              <Quiz id="intensity-orders">
                <Formula block tex={formulas.intensity} />
              </Quiz>
              <Quiz id="intensity-flash" />
            </>
          }
        />
      </Section>
      <References ids={['dao', 'dao2', 'williams']} />
    </div>
  );
}
