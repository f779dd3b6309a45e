import type { StepReport } from '@tilewise/nn';

/** Where progress is written: a terminal, where a line can be drawn again, or a file or pipe. */
export interface ProgressOutput {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

export interface Progress {
  report(step: Pick<StepReport, 'step' | 'loss' | 'accuracy'>): void;
  /** Ends the line that is drawn again and again. */
  finish(): void;
}

const BAR = 24;
const LINES = 10;
const REDRAW_MS = 80;

/**
 * Progress of `steps` training steps: a bar with loss, accuracy, the time of a step and the time that is left
 * on a terminal, about ten plain lines elsewhere. Loss and accuracy are running means, as those of a single
 * step jump about.
 */
export function createProgress(
  output: ProgressOutput,
  steps: number,
  now: () => number = () => performance.now(),
): Progress {
  const start = now();
  let mean: { readonly loss: number; readonly accuracy: number } | undefined;
  let drawnAt = Number.NEGATIVE_INFINITY;

  function line(done: number): string {
    const seconds = (now() - start) / 1000;
    const left = (seconds / done) * (steps - done);
    const { loss = 0, accuracy = 0 } = mean ?? {};
    const score = `loss ${loss.toFixed(3)}  ${(100 * accuracy).toFixed(0)}% right`;
    const each = `${((1000 * seconds) / done).toFixed(0)} ms a step`;
    return `step ${done}/${steps}  ${score}  ${each}  ${formatSeconds(seconds)}, ${formatSeconds(left)} left`;
  }

  return {
    report({ step, loss, accuracy = 0 }) {
      const done = step + 1;
      mean = mean
        ? { loss: 0.9 * mean.loss + 0.1 * loss, accuracy: 0.9 * mean.accuracy + 0.1 * accuracy }
        : { loss, accuracy };
      const last = done === steps;
      if (output.isTTY) {
        if (!last && now() - drawnAt < REDRAW_MS) return;
        drawnAt = now();
        const filled = Math.round((BAR * done) / steps);
        output.write(`\r\x1b[2K${'█'.repeat(filled)}${'░'.repeat(BAR - filled)}  ${line(done)}`);
      } else if (
        last ||
        done === 1 ||
        Math.floor((done * LINES) / steps) > Math.floor((step * LINES) / steps)
      ) {
        output.write(`${line(done)}\n`);
      }
    },
    finish() {
      if (output.isTTY) output.write('\n');
    },
  };
}

function formatSeconds(seconds: number): string {
  return seconds < 60
    ? `${seconds.toFixed(0)} s`
    : `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
}
