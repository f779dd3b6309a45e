import { appendFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { table } from '../command/table.ts';
import { joinRuns } from './join.ts';
import type { Outcome } from './step.ts';

/** Complaints of a step that are worth reading: its last ones. */
const lastLines = 20;

/**
 * Two files that are whole after every step, as a run may be ended at any: `report.txt`, what each step has
 * said, and `summary.txt`, how each went and how long others took for what WebGPU did.
 */
export class Report {
  readonly #folder: string;
  readonly #outcomes: Outcome[] = [];

  /** @param folder where the files of the steps are, too. */
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

  /** The output of a step; none for a step that was left out. */
  #said(step: string, ending: 'out' | 'log'): string {
    const file = join(this.#folder, `${step}.${ending}`);
    return existsSync(file) ? readFileSync(file, 'utf8') : '';
  }
}
