import type { StepReport } from '@tilewise/nn';

/** Where progress is written: a terminal, on which a line can be redrawn, or a file or pipe. */
export interface ProgressOutput {
  readonly isTTY?: boolean;
  write(text: string): unknown;
}

const [BAR, LINES, REDRAW_MS] = [24, 10, 80];

/**
 * Writes the progress of `steps` training steps, each of which must be reported: on a terminal, a bar with
 * loss, accuracy, time per step and remaining time; elsewhere, about ten plain lines. Loss and accuracy are
 * running means, because single steps fluctuate.
 */
export function createProgress(
  output: ProgressOutput,
  steps: number,
  now: () => number = () => performance.now(),
): (report: Pick<StepReport, 'loss' | 'accuracy'>) => void {
  const start = now();
  let [done, meanLoss, meanAccuracy, drawnAt] = [0, 0, 0, Number.NEGATIVE_INFINITY];
  return ({ loss, accuracy = 0 }) => {
    const share = done++ === 0 ? 1 : 0.1;
    meanLoss += share * (loss - meanLoss);
    meanAccuracy += share * (accuracy - meanAccuracy);
    const ms = now() - start;
    const score = `loss ${meanLoss.toFixed(3)}  ${(100 * meanAccuracy).toFixed(0)}% right`;
    const times = `${time(ms)}, ${time((ms / done) * (steps - done))} left`;
    const line = `step ${done}/${steps}  ${score}  ${(ms / done).toFixed(0)} ms a step  ${times}`;
    const bar = '█'.repeat(Math.round((BAR * done) / steps)).padEnd(BAR, '░');
    const end = done === steps ? '\n' : '';
    const isNext = Math.floor((done * LINES) / steps) > Math.floor(((done - 1) * LINES) / steps);
    if (output.isTTY ? end === '' && now() - drawnAt < REDRAW_MS : done > 1 && !isNext) return;
    drawnAt = now();
    output.write(output.isTTY ? `\r\x1b[2K${bar}  ${line}${end}` : `${line}\n`);
  };
}

function time(ms: number): string {
  const seconds = ms / 1000;
  return seconds < 60
    ? `${seconds.toFixed(0)} s`
    : `${Math.floor(seconds / 60)} min ${Math.floor(seconds % 60)} s`;
}
