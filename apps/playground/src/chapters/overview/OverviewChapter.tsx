import { Quiz } from '../../exercises/quiz/Quiz.tsx';
import { useText } from '../../text/TextProvider.tsx';
import { BesideText } from '../../ui/figures/BesideText.tsx';
import { Formula } from '../../ui/formulas/Formula.tsx';
import { Paragraphs } from '../../ui/prose/Rich.tsx';
import { Section } from '../../ui/prose/Section.tsx';
import { AllWords, OneWord } from './OneWord.tsx';
import './overview.css';
import { References } from '../../ui/prose/References.tsx';
import { formulas } from '../formulas.ts';
import { Square } from './Square.tsx';
import { WhyScale } from './WhyScale.tsx';

/** The attention equation, worked through on the sentence that all chapters use. */
export default function OverviewChapter() {
  const { overview: text } = useText();
  return (
    <div className="stack">
      <Section id="word" title={text.word}>
        <BesideText figure={<OneWord />} after={<AllWords />}>
          <Paragraphs text={text.intro} />
          <Formula block tex={formulas.attention} />
          <Paragraphs text={text.wordWhy} />
        </BesideText>
      </Section>
      <Section id="scale" title={text.scale}>
        <Paragraphs text={text.scaleWhy} />
        <WhyScale />
      </Section>
      <Quiz id="square-root" />
      <Section id="square" title={text.square}>
        <Paragraphs text={text.squareWhy} />
        <Square />
      </Section>
      <Quiz id="square-memory" />
      <References ids={['vaswani', 'rabe', 'dao']} />
    </div>
  );
}
