import { useMemo } from 'react';
import source from '../../../../../packages/webgpu/wgsl/forward.wgsl?raw';
import { useText } from '../../text/TextProvider.tsx';
import { Player } from '../controls/Player.tsx';
import { usePlayback } from '../controls/usePlayback.ts';
import { ScrollRegion } from '../figures/ScrollRegion.tsx';
import { Rich } from '../prose/Rich.tsx';
import { momentsOf, partsOf } from './kernel-phases.ts';
import { TileCells, type TileState, tileSize } from './TileCells.tsx';

const tiles = 4;
const left = tileSize + 8;
const above = 20 + tileSize + 8;
const across = Array.from({ length: tiles }, (_, n) => n);

/** Scrolls to the highlighted lines. scrollIntoView would not do: it would move the page, too. */
function scrollToLines(lines: HTMLElement | null): void {
  const region = lines?.closest('section');
  if (lines && region) region.scrollTop = lines.offsetTop - region.offsetTop - 8;
}

/** The forward kernel as the library generates it, beside the tiles that its workgroups visit. */
export default function KernelWalk() {
  const { tiles: text } = useText();
  const parts = useMemo(() => partsOf(source), []);
  const moments = useMemo(() => momentsOf(tiles), []);
  const playback = usePlayback('kernel', moments.length, 900, 4);
  const now = moments[playback.at - 1] ?? null;
  const state = (_: number, j: number): TileState => {
    if (now?.j === j) return 'now';
    const passed = now === null ? -1 : (now.j ?? (playback.at > 2 ? tiles : -1));
    return j < passed ? 'met' : 'open';
  };
  const stored = now?.phase === 'store';
  return (
    <div className="kernel-walk">
      <div>
        <svg
          viewBox={`0 0 ${left + tiles * tileSize + 8 + tileSize} ${above + tiles * tileSize}`}
          role="img"
          aria-label={text.walkLabel(now?.j ?? null)}
        >
          <text className="axis-label" x={tileSize / 2} y={above - 14}>
            Q
          </text>
          <text className="axis-label" x={left + (tiles * tileSize) / 2} y="13">
            K, V
          </text>
          <text className="axis-label" x={left + tiles * tileSize + 8 + tileSize / 2} y={above - 14}>
            O
          </text>
          <g transform="translate(0 0)">
            <TileCells
              rows={1}
              columns={tiles}
              x={left}
              y={20}
              state={(_, j) => (now?.j === j ? 'now' : 'open')}
            />
            <TileCells
              rows={tiles}
              columns={1}
              y={above}
              state={() => (playback.at > 0 && !stored ? 'met' : 'open')}
            />
            <TileCells rows={tiles} columns={tiles} x={left} y={above} state={state} />
            <TileCells
              rows={tiles}
              columns={1}
              x={left + tiles * tileSize + 8}
              y={above}
              state={() => (stored ? 'now' : 'open')}
            />
          </g>
          {across.map(n => (
            <text key={n} className="axis-label" x={tileSize / 2} y={above + n * tileSize + 19}>
              {n}
            </text>
          ))}
        </svg>
        <Player playback={playback} />
        <p role="status">
          {now && (
            <>
              <strong>{text.phases[now.phase].title}.</strong> <Rich text={text.phases[now.phase].what} />
            </>
          )}
        </p>
      </div>
      <ScrollRegion className="kernel-source" label={text.source}>
        <pre>
          {parts.map(({ phase, text: lines }) => (
            <code
              key={phase}
              ref={phase === now?.phase ? scrollToLines : undefined}
              data-lit={phase !== null && phase === now?.phase}
            >
              {lines}
              {'\n'}
            </code>
          ))}
        </pre>
      </ScrollRegion>
    </div>
  );
}
