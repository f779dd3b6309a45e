import { useEffect, useState } from 'react';

/** A position in a sequence of steps, and whether it is moving by itself. 0 is before the first step. */
export interface Playback {
  readonly at: number;
  readonly last: number;
  readonly playing: boolean;
  readonly seek: (at: number) => void;
  readonly setPlaying: (playing: boolean) => void;
}

/** Plays `last` steps, one every `interval` milliseconds, and stops at the end. */
export function usePlayback(last: number, interval: number): Playback {
  const [at, setAt] = useState(0);
  const [playing, setPlaying] = useState(false);
  const here = Math.min(at, last);
  useEffect(() => {
    if (!playing) return;
    if (here >= last) {
      setPlaying(false);
      return;
    }
    const timer = setTimeout(() => setAt(here + 1), interval);
    return () => clearTimeout(timer);
  }, [playing, here, last, interval]);
  return {
    at: here,
    last,
    playing,
    seek: position => setAt(Math.max(0, Math.min(last, position))),
    setPlaying: start => {
      if (start && here >= last) setAt(0);
      setPlaying(start);
    },
  };
}
