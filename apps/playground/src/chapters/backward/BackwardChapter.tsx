import { Quiz } from '../../exercises/quiz/Quiz.tsx';
import { AttentionExercises } from '../../exercises/workbench/AttentionExercises.tsx';
import { useChapterText } from '../../text/useChapterText.ts';
import { BesideText } from '../../ui/figures/BesideText.tsx';
import { ScrollRegion } from '../../ui/figures/ScrollRegion.tsx';
import { Formula } from '../../ui/formulas/Formula.tsx';
import { References } from '../../ui/prose/References.tsx';
import { Reveal } from '../../ui/prose/Reveal.tsx';
import { Paragraphs, Rich } from '../../ui/prose/Rich.tsx';
import { Section } from '../../ui/prose/Section.tsx';
import './backward.css';
import { formulas } from '../formulas.ts';
import { Derivation } from './Derivation.tsx';
import { KnownD } from './KnownD.tsx';
import { GradientCheck } from './numbers/GradientCheck.tsx';
import { LiveNumbers } from './numbers/LiveNumbers.tsx';
import { TwoKernels } from './TwoKernels.tsx';
import { WalkFigure } from './WalkFigure.tsx';

/** Gradients without the big matrices. */
export default function BackwardChapter() {
  const text = useChapterText('backward');
  return (
    <div className="stack">
      <div className="prose">
        <Paragraphs text={text.intro} />
      </div>
      <Quiz id="ingredient" />
      <BesideText
        figure={
          <Section id="numbers" title={text.numbers}>
            <p>
              <Rich text={text.numbersWhy} />
            </p>
            <LiveNumbers />
          </Section>
        }
      >
        <Section id="derivation" title={text.derivation}>
          <Derivation />
        </Section>
      </BesideText>
      <Section id="check" title={text.check}>
        <GradientCheck />
      </Section>
      <Quiz id="why-gradients" />
      <Quiz id="projection-cost" />
      <Quiz id="walk-score" />
      <Section id="walk" title={text.byRowsOrColumns}>
        <p>
          <Rich text={text.walkWhy} />
        </p>
        <WalkFigure />
      </Section>
      <Quiz id="known-d" />
      <Section id="d" title={text.worth}>
        <p>
          <Rich text={text.worthWhy} />
        </p>
        <KnownD />
      </Section>
      <AttentionExercises ids={['backward-row', 'backward-column']} />
      <Section id="kernels" title={text.kernelsTitle}>
        <p>
          <Rich text={text.kernelsWhy} />
        </p>
        <TwoKernels />
        <ScrollRegion label={text.kernelTable}>
          <table className="described">
            <thead>
              <tr>
                {text.kernelColumns.map(column => (
                  <th key={column} scope="col">
                    {column}
                  </th>
                ))}
              </tr>
            </thead>
            <tbody>
              {text.kernelRows.map(row => (
                <tr key={row.join()}>
                  {row.map(entry => (
                    <td key={entry}>{entry}</td>
                  ))}
                </tr>
              ))}
            </tbody>
          </table>
        </ScrollRegion>
        <p>{text.sevenProducts}</p>
      </Section>
      <Reveal summary={text.further}>
        <Paragraphs text={text.furtherAnswer.slice(0, 1)} />
        <Formula block tex={formulas.inputGradient} />
        <Paragraphs text={text.furtherAnswer.slice(1)} />
      </Reveal>
      <References ids={['dao', 'dao2', 'rabe']} />
    </div>
  );
}
