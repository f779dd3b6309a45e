import { useText } from '../../text/TextProvider.tsx';
import type { Text } from '../../text/text.ts';
import type { Playback } from './usePlayback.ts';

const icons = {
  rewind: 'M3 3h2v10H3zM13 3v10L6 8z',
  back: 'M11 3v10L4 8z',
  play: 'M4 2.5v11L13.5 8z',
  pause: 'M3.5 3h3v10h-3zM9.5 3h3v10h-3z',
  forward: 'M5 3v10l7-5z',
  end: 'M3 3v10l7-5zM11 3h2v10h-2z',
} as const;

function Icon({ name }: { readonly name: keyof typeof icons }) {
  return (
    <svg viewBox="0 0 16 16" aria-hidden="true">
      <path d={icons[name]} />
    </svg>
  );
}

/** Play, pause, step and rewind. */
export function Player(props: {
  readonly playback: Playback;
  /** The unit of one step. */
  readonly unit?: keyof Text['player']['next'];
}) {
  const { playback, unit = 'step' } = props;
  const { player } = useText();
  const { at, last, playing, seek, setPlaying } = playback;
  const go = (to: number) => () => {
    setPlaying(false);
    seek(to);
  };
  return (
    <fieldset className="toolbar player">
      <legend className="visually-hidden">{player.playback}</legend>
      <button
        type="button"
        className="button icon"
        aria-label={player.rewind}
        disabled={at === 0}
        onClick={go(0)}
      >
        <Icon name="rewind" />
      </button>
      <button
        type="button"
        className="button icon"
        aria-label={player.back[unit]}
        disabled={at === 0}
        onClick={go(at - 1)}
      >
        <Icon name="back" />
      </button>
      <button
        type="button"
        className="button icon primary"
        aria-label={playing ? player.pause : player.play}
        disabled={last === 0}
        onClick={() => setPlaying(!playing)}
      >
        <Icon name={playing ? 'pause' : 'play'} />
      </button>
      <button
        type="button"
        className="button icon"
        aria-label={player.next[unit]}
        disabled={at === last}
        onClick={go(at + 1)}
      >
        <Icon name="forward" />
      </button>
      <button
        type="button"
        className="button icon"
        aria-label={player.end}
        disabled={at === last}
        onClick={go(last)}
      >
        <Icon name="end" />
      </button>
      <span className="mono" role="status">
        {at} / {last}
      </span>
    </fieldset>
  );
}
