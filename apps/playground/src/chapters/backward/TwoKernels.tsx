import { type BackwardKernel, visitedTile } from '../../logic/schedule/backward-order.ts';
import { useUrlChoice } from '../../state/url-state.ts';
import { useChapterText } from '../../text/useChapterText.ts';
import { Player } from '../../ui/controls/Player.tsx';
import { Segmented } from '../../ui/controls/Segmented.tsx';
import { usePlayback } from '../../ui/controls/usePlayback.ts';
import { TileCells, tileSize } from '../../ui/tiles/TileCells.tsx';

const n = 8;
const cell = tileSize;
const strip = 22;
const gap = 8;
const kernels: readonly BackwardKernel[] = ['dkdv', 'dq'];
const tiles = Array.from({ length: n }, (_, k) => k);

/** The kernels that the library runs: all workgroups side by side, each finishing the tile that it owns. */
export function TwoKernels() {
  const text = useChapterText('backward');
  const [mask, setMask] = useUrlChoice('mask', 'none', ['none', 'causal']);
  const causal = mask === 'causal';
  const playback = usePlayback('kernels', n, 700, 3);
  return (
    <div className="stack">
      <div className="toolbar">
        <Segmented
          label={text.mask}
          value={mask}
          options={[
            { value: 'none', label: text.noMask },
            { value: 'causal', label: text.causal },
          ]}
          onChange={setMask}
        />
        <Player playback={playback} unit="tile" />
      </div>
      <p className="note">{text.termsNote}</p>
      <div className="beside">
        {kernels.map(kernel => (
          <section key={kernel} className="schedule" aria-label={text.kernels[kernel].title}>
            <h3>{text.kernels[kernel].title}</h3>
            <KernelGrid kernel={kernel} at={playback.at} causal={causal} />
            <p className="note">{text.kernels[kernel].about}</p>
          </section>
        ))}
      </div>
    </div>
  );
}

function KernelGrid(props: {
  readonly kernel: BackwardKernel;
  readonly at: number;
  readonly causal: boolean;
}) {
  const { kernel, at, causal } = props;
  const text = useChapterText('backward');
  const byKey = kernel === 'dkdv';
  const visits = (group: number): (number | null)[] =>
    Array.from({ length: n }, (_, step) => visitedTile(kernel, group, step, n, causal));
  const size = n * cell + gap + strip;
  return (
    <svg className="kernel" viewBox={`0 0 ${size} ${size}`} role="img" aria-label={text.kernelFigure(at, n)}>
      <TileCells
        rows={n}
        columns={n}
        state={(i, j) => {
          const step = visits(byKey ? j : i).indexOf(byKey ? i : j);
          return step < 0 ? 'hidden' : step === at - 1 ? 'now' : step < at ? 'met' : 'open';
        }}
      />
      {tiles.map(group => {
        const met = visits(group);
        const wanted = met.filter(tile => tile !== null).length;
        const added = Math.min(at, wanted);
        const place = group * cell + 2;
        return (
          <g key={group} data-symbol={byKey ? 'dK dV' : 'dQ'}>
            <rect
              className="held"
              x={byKey ? place : n * cell + gap}
              y={byKey ? n * cell + gap : place}
              width={byKey ? cell - 4 : strip}
              height={byKey ? strip : cell - 4}
              rx="4"
            />
            <rect
              className="gradient-fill"
              data-whole={added === wanted}
              style={{ '--share': added / wanted } as React.CSSProperties}
              x={byKey ? place : n * cell + gap}
              y={byKey ? n * cell + gap : place}
              width={byKey ? cell - 4 : strip}
              height={byKey ? strip : cell - 4}
              rx="4"
            />
            <text
              className="terms"
              x={byKey ? place + cell / 2 - 2 : n * cell + gap + strip / 2}
              y={byKey ? n * cell + gap + strip / 2 + 3 : place + cell / 2 + 2}
            >
              {added === wanted ? '✓' : added > 0 ? `${added}/${wanted}` : ''}
            </text>
          </g>
        );
      })}
    </svg>
  );
}
