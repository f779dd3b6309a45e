import { Quiz } from '../../quiz/Quiz.tsx';
import { useText } from '../../text/TextProvider.tsx';
import { Formula } from '../../ui/Formula.tsx';
import { Reveal } from '../../ui/Reveal.tsx';
import { Paragraphs, Rich } from '../../ui/Rich.tsx';
import { AttentionExercises } from '../../workbench/AttentionExercises.tsx';
import './loops.css';
import { Roofline } from './Roofline.tsx';
import { Schedules } from './Schedules.tsx';

/** Chapter 4: what travels between slow and fast memory, by which loop is outside. */
export default function LoopsChapter() {
  const { loops: text } = useText();
  return (
    <div className="stack">
      <div className="prose">
        <p>
          <Rich text={text.intro} />
        </p>
      </div>
      <section className="panel" aria-labelledby="schedules-title">
        <h2 id="schedules-title">{text.side}</h2>
        <p>
          <Rich text={text.sideWhy} />
        </p>
        <Schedules />
      </section>
      <AttentionExercises ids={['queries-outside', 'keys-outside', 'two-queries']} />
      <div className="stack tight">
        <Reveal summary={text.whyNotAll}>
          <Paragraphs text={text.whyNotAllAnswer} />
        </Reveal>
        <Reveal summary={text.whyTwo}>
          <Paragraphs text={text.whyTwoAnswer} />
        </Reveal>
      </div>
      <section className="panel" aria-labelledby="roofline-title">
        <h2 id="roofline-title">{text.roofline}</h2>
        <p>
          <Rich text={text.rooflineWhy} />
        </p>
        <Roofline />
      </section>
      <Quiz id="intensity-orders">
        <Formula
          block
          tex="I_{\text{inner}} \approx \frac{4 T^2 d}{2\,T d \cdot b} = \frac{2T}{b}, \qquad I_{\text{outer}} \approx \frac{4 T^2 d}{3\,T d \cdot b} = \frac{4T}{3b}"
        />
      </Quiz>
      <Quiz id="intensity-flash" />
    </div>
  );
}
