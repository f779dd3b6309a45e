import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { table } from '../../suite/table.ts';
import { joinRuns } from './join.ts';
import type { Outcome } from './step.ts';

/** The end of a step's log, which holds the errors worth reading. */
const lastLines = 20;

/**
 * Two files that are complete after every step, because a run may be ended at any step: `report.txt` has the
 * output of each step, and `summary.txt` says how each step ended and how long other engines took for the
 * work that WebGPU did.
 */
export class Report {
  readonly #folder: string;
  readonly #outcomes: Outcome[] = [];

  /** @param folder the folder that also holds the files of the steps. */
  constructor(folder: string) {
    this.#folder = folder;
    writeFileSync(join(folder, 'report.txt'), '');
  }

  add(outcome: Outcome): void {
    this.#outcomes.push(outcome);
    const { step, seconds, result } = outcome;
    const log = this.#said(step, 'log').trimEnd().split('\n').slice(-lastLines).join('\n');
    const text = `=== ${step}: ${result}, ${seconds.toFixed(1)} s\n${this.#said(step, 'out')}--- ${log}\n`;
    appendFileSync(join(this.#folder, 'report.txt'), text);
    const steps = table(this.#outcomes.map(one => ({ ...one })));
    writeFileSync(join(this.#folder, 'summary.txt'), `${steps}\n\n${this.ratios()}\n`);
  }

  /** The table of ratios so far. */
  ratios(): string {
    const linesOf = (torch: boolean): string[] =>
      this.#outcomes
        .filter(({ step }) => (torch ? step.startsWith('torch') : step.includes('attention-')))
        .flatMap(({ step }) => this.#said(step, 'out').split('\n'));
    return table(joinRuns(linesOf(false), linesOf(true), 'webgpu'));
  }

  /** The output of a step; empty for a step that was skipped. */
  #said(step: string, ending: 'out' | 'log'): string {
    const file = join(this.#folder, `${step}.${ending}`);
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  }
}
