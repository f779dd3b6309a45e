import { useEffect, useEffectEvent, useState } from 'react';
import { useUrlNumber } from '../../state/url-state.ts';

/** A position in a sequence of steps, and whether it is playing. 0 is before the first step. */
export interface Playback {
  readonly at: number;
  readonly last: number;
  readonly playing: boolean;
  readonly seek: (at: number) => void;
  readonly setPlaying: (playing: boolean) => void;
}

/**
 * Plays `last` steps, one every `interval` milliseconds, and stops at the end. The URL holds the position
 * under `name`; before the visitor moves, the position is `initial`, so that a figure shows something.
 */
export function usePlayback(name: string, last: number, interval: number, initial = 0): Playback {
  const [at, setAt] = useUrlNumber(name, initial, { min: 0, max: Number.MAX_SAFE_INTEGER });
  const [playing, setPlaying] = useState(false);
  const here = Math.min(at, last);
  const moveOn = useEffectEvent(() => setAt(here + 1));
  useEffect(() => {
    if (!playing) return;
    if (here >= last) {
      setPlaying(false);
      return;
    }
    const timer = setTimeout(moveOn, interval);
    return () => clearTimeout(timer);
  }, [playing, here, last, interval]);
  return {
    at: here,
    last,
    playing,
    // Not limited to `last`, which may be about to change together with the position.
    seek: position => setAt(Math.max(0, position)),
    setPlaying: start => {
      if (start && here >= last) setAt(0);
      setPlaying(start);
    },
  };
}
