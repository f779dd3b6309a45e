import type { Failure } from '../../logic/kernels/gpu/failure.ts';
import type { Judgement, Times } from '../../logic/kernels/judge.ts';
import { useNumbers } from '../../text/numbers.ts';
import { say } from '../../text/say.ts';
import type { ChapterTexts } from '../../text/text.ts';
import { useChapterText } from '../../text/useChapterText.ts';
import { Rich } from '../../ui/prose/Rich.tsx';
import type { KernelRun } from './useJudge.ts';

/** The full report on a run. */
export function KernelVerdict({
  run,
  changed,
}: {
  readonly run: KernelRun | null;
  readonly changed: boolean;
}) {
  const text = useChapterText('kernels');
  if (run === null) {
    const runs = 'gpu' in navigator;
    return (
      <p className={runs ? 'note' : 'broken'}>
        {runs ? text.notRun : text.failures['no-webgpu']({ kind: 'no-webgpu' })}
      </p>
    );
  }
  if ('stage' in run) return <p className="note">{say(run.stage, text.stages)}</p>;
  return (
    <div className="kernel-verdict" data-changed={changed}>
      {changed && <p className="note">{text.changed}</p>}
      <Judged judgement={run.judgement} />
    </div>
  );
}

function Judged({ judgement }: { readonly judgement: Judgement }) {
  switch (judgement.kind) {
    case 'failed':
      return <Failed failure={judgement.failure} />;
    case 'wrong':
      return <Wrong judgement={judgement} />;
    default:
      return <Right judgement={judgement} />;
  }
}

function Failed({ failure }: { readonly failure: Failure }) {
  const text = useChapterText('kernels');
  return (
    <>
      <p className="broken">{say(failure, text.failures)}</p>
      {failure.kind === 'compiler' && (
        <ul className="errors">
          {failure.errors.map(({ line, column, message }) => (
            <li key={`${line} ${column} ${message}`}>{text.line(line, message)}</li>
          ))}
        </ul>
      )}
    </>
  );
}

function Wrong({ judgement }: { readonly judgement: Extract<Judgement, { kind: 'wrong' }> }) {
  const text = useChapterText('kernels');
  const { short } = useNumbers();
  const { input, sizes, wrong, slip } = judgement;
  const write = (value: number): string => short(value, 4);
  const where =
    wrong.kind === 'differs'
      ? text.wrong.differs(wrong, write)
      : wrong.kind === 'unwritten'
        ? text.wrong.unwritten(wrong, write)
        : text.wrong.outside(wrong, write);
  return (
    <>
      <p className="broken">
        {text.wrongOn(text.inputs[input], sizes.n)} {where}
      </p>
      <p>
        <Rich text={slip ? text.slips[slip] : text.inputHints[input]} />
      </p>
    </>
  );
}

function Right({ judgement }: { readonly judgement: Extract<Judgement, { kind: 'right' }> }) {
  const text = useChapterText('kernels');
  const { significant, short } = useNumbers();
  const { inputs, largest, reads, times } = judgement;
  const error = Math.abs(largest.got - largest.wanted);
  return (
    <>
      <p className={times ? 'solved' : 'broken'}>
        {times ? `${text.right(inputs)} ${compared(times, text.race, significant)}` : text.tooSlow}
      </p>
      {times && <Race times={times} />}
      <ul className="criteria">
        {reads.map(read => (
          <li key={read.array} data-met={read.found <= read.most}>
            <span>{text.reads(read, value => significant(value, 6))}</span>
          </li>
        ))}
        <li data-met={true}>
          <span>
            {error === 0
              ? text.exact
              : text.largest(short(error, 2), short(error / largest.times, 2), text.place(largest))}
          </span>
        </li>
      </ul>
    </>
  );
}

/** Times whose ratio is below this count as equal. */
const level = 1.15;

/** Compares a time with the best known one, in words. */
function compared(
  { own, best }: Times,
  words: ChapterTexts['kernels']['race'],
  significant: (value: number, digits: number) => string,
): string {
  if (own * level < best) return words.ahead;
  return own < best * level ? words.level : words.behind(significant(own / best, 2));
}

/** The times as bars; the longest takes the whole width. */
function Race({ times }: { readonly times: Times }) {
  const text = useChapterText('kernels');
  const { significant } = useNumbers();
  const lanes = (['own', 'rival', 'best'] as const).flatMap(name => {
    const ms = times[name];
    return ms === null ? [] : [{ name, ms }];
  });
  const longest = Math.max(...lanes.map(({ ms }) => ms));
  return (
    <figure className="kernel-race">
      <figcaption className="visually-hidden">{text.timesCaption}</figcaption>
      <dl>
        {lanes.map(({ name, ms }) => (
          <div key={name} data-lane={name}>
            <dt>{text.times[name]}</dt>
            <dd>
              <span className="bar" style={{ width: `${(100 * ms) / longest}%` }} />
              <span className="ms">{text.ms(significant(ms, 3))}</span>
            </dd>
          </div>
        ))}
      </dl>
      <p className="note">{text.measured(times, value => significant(value, 6))}</p>
    </figure>
  );
}
