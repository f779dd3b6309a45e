import { useCallback, useEffect, useState } from 'react';
import { useNumbers } from '../text/numbers.ts';
import { useFirstText } from '../text/TextProvider.tsx';
import type { RaceResult } from './attention-race.ts';
import { raceLengths } from './race-lengths.ts';

const frame = { left: 8, right: 312, top: 18, bottom: 168 };
const longest = Math.max(...raceLengths);

/** Memory of both methods against n, computed for one length after the other in a worker. */
export function MemoryRace() {
  const [round, setRound] = useState(0);
  return <Round key={round} onAgain={() => setRound(round + 1)} />;
}

/** One race, in its own worker. */
function Round({ onAgain }: { readonly onAgain: () => void }) {
  const { race: text } = useFirstText().home;
  const { bytes, short, significant, whole } = useNumbers();
  const [points, setPoints] = useState<readonly RaceResult[]>([]);
  const [done, setDone] = useState(false);
  useEffect(() => {
    const worker = new Worker(new URL('./race-worker.ts', import.meta.url), { type: 'module' });
    worker.addEventListener('message', ({ data }: MessageEvent<RaceResult | null>) => {
      if (data) setPoints(before => [...before, data]);
      else setDone(true);
    });
    worker.postMessage('begin');
    return () => worker.terminate();
  }, []);
  const last = points.at(-1);
  const most = Math.max(1, last?.naiveBytes ?? 1);
  const place = useCallback(
    (n: number, value: number): string =>
      `${frame.left + (n / longest) * (frame.right - frame.left)} ${frame.bottom - (value / most) * (frame.bottom - frame.top)}`,
    [most],
  );
  const line = (value: (point: RaceResult) => number): string =>
    points.length === 0
      ? ''
      : `M${[place(0, 0), ...points.map(point => place(point.n, value(point)))].join('L')}`;
  const described = points.map(({ n, naiveBytes, streamingBytes }) =>
    text.point(whole(n), bytes(naiveBytes), bytes(streamingBytes)),
  );
  return (
    <section className="opening-demo" aria-labelledby="race-title">
      <h2 id="race-title">{text.title}</h2>
      <svg className="race" viewBox="0 0 320 190" role="img" aria-label={text.label(described)}>
        <path className="axis" d={`M${frame.left} ${frame.top}V${frame.bottom}H${frame.right}`} />
        <path
          className="race-area"
          d={points.length === 0 ? '' : `${line(point => point.naiveBytes)}V${frame.bottom}Z`}
        />
        <path className="race-line" data-way="naive" d={line(point => point.naiveBytes)} />
        <path className="race-line" data-way="streaming" d={line(point => point.streamingBytes)} />
        <text x={frame.left + 6} y={frame.top - 2} data-way="naive">
          {text.naive}
          {last && ` · ${bytes(last.naiveBytes)}`}
        </text>
        <text x={frame.left + 6} y={frame.bottom + 16} data-way="streaming">
          {text.streaming}
          {last && ` · ${bytes(last.streamingBytes)}`}
        </text>
        <text className="axis-name" x={frame.right} y={frame.bottom + 16} textAnchor="end">
          {text.axisX}
          {last && ` = ${whole(last.n)}`}
        </text>
      </svg>
      <p className="opening-note" role="status">
        {done && last
          ? text.result(
              whole(last.n),
              bytes(last.naiveBytes),
              bytes(last.streamingBytes),
              significant(last.naiveBytes / last.streamingBytes, 3),
              short(Math.max(...points.map(({ difference }) => difference)), 1),
            )
          : text.running(whole(raceLengths[points.length] ?? longest))}
      </p>
      <button type="button" className="button" disabled={!done} onClick={onAgain}>
        {text.start}
      </button>
    </section>
  );
}
