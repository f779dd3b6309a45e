import type { Tensor } from '@tilewise/core';
import { timeInTurn } from '@tilewise/device-report/measure';
import { WrongResult } from '../suite/suite.ts';
import type { Row } from '../suite/table.ts';
import { type AttentionCase, caseColumns, toleranceOf } from '../workloads/attention/attention-case.ts';
import type { SampledCall, SampledForward } from '../workloads/attention/exact-rows.ts';
import { errorOfGradients, errorOfO, sampleRows } from '../workloads/attention/sampled-reference.ts';
import type { Pass } from './implementation.ts';
import { ImplementationProcess, type ImplementationProcessOptions } from './implementation-process.ts';
import { tensorOf } from './implementation-service.ts';
import { implementationsIn, own } from './implementations.ts';

/** An implementation in the comparison: its process, and the name and note that the process gave. */
interface Entry {
  /** The key in `implementations.ts`. */
  readonly key: string;
  readonly process: ImplementationProcess;
  /** Whether the process has loaded the implementation. */
  isLoaded: boolean;
  name: string;
  note: string;
}

/** A pass with a known error, ready to be timed. */
interface Ready {
  readonly entry: Entry;
  readonly pass: Pass;
  readonly error: number;
  dispatches: number;
  /** Why the pass could not be timed. */
  failure: string;
}

/** The fields that all rows of a case share. */
export interface Surroundings {
  /** The rate of the best matmul, in TFLOP/s. */
  readonly peak: number;
  readonly label: Readonly<Record<string, string>>;
  progress(text: string): void;
}

/**
 * Times our attention, naive attention and the installed peers. Each implementation has a process and a
 * device of its own, all on the same adapter. The processes stay alive from case to case.
 */
export class Comparison {
  readonly #entries: readonly Entry[];

  /**
   * Starts the processes. Create the comparison before this process lowers its priority for a software
   * adapter: the processes and the threads of their adapters inherit the priority.
   * @param folder where peers are installed, if anywhere.
   */
  constructor(folder: string | undefined, options: Omit<ImplementationProcessOptions, 'name' | 'folder'>) {
    this.#entries = implementationsIn(folder).map(key => ({
      ...{ key, isLoaded: false, name: key, note: '' },
      process: new ImplementationProcess({ ...options, name: key, folder: folder ?? '' }),
    }));
    for (const { process } of this.#entries) process.start();
  }

  /**
   * Times all implementations on one case in turn, round after round, by the wall clock until the queue is
   * done. The results are checked first: a row has the error of its implementation.
   * @param exact o and lse of the case, known to be right; the check of the gradients needs them.
   * @throws WrongResult when the error of our attention is above the tolerance.
   */
  async run(of: AttentionCase, exact: SampledForward, surroundings: Surroundings): Promise<Row[]> {
    const row = (name: string, pass: Pass, more: Row): Row => rowOf(of, surroundings, name, pass, more);
    surroundings.progress('compiling and checking all');
    // All at once: a software adapter takes a minute to compile the kernels of some implementations.
    const prepared = await Promise.all(this.#entries.map(one => prepare(one, of, exact)));
    const ready = prepared.flatMap(one => one.ready);
    const refused = prepared.flatMap((one, n) =>
      one.refused.map(({ pass, note }) => row(this.#entries[n].name, pass, { note })),
    );
    for (const one of ready) checkOwn(one, of);

    surroundings.progress('all in turn');
    const times = await timeInTurn(ready.map(one => round => timed(one, round)));
    for (const { process } of this.#entries) {
      if (process.running) await process.ask('close').catch(() => process.end());
    }
    const ownMs = (pass: Pass): number | undefined =>
      times[ready.findIndex(one => one.entry.key === own && one.pass === pass && !one.failure)]?.median;
    const measured = ready.map(({ entry: { name, note }, pass, error, dispatches, failure }, n) => {
      if (failure) return row(name, pass, { error, note: `failed: ${failure}` });
      const ms = times[n].median;
      const flops = of.flops.forward + (pass === 'forward' ? 0 : of.flops.backward);
      const tflops = flops / ms / 1e9;
      const mine = ownMs(pass);
      return row(name, pass, {
        ...{ ms, 'TFLOP/s': tflops, 'of peak': tflops / surroundings.peak },
        ...{ '× tilewise': mine === undefined ? '' : ms / mine, error, dispatches },
        note: isRight(pass, error, of) ? note : ['wrong', note].filter(Boolean).join('; '),
      });
    });
    return [...measured, ...refused];
  }

  /** Ends all processes. */
  end(): void {
    for (const { process } of this.#entries) process.end();
  }
}

const reasonOf = (error: unknown): string =>
  String(error instanceof Error ? error.message : error).slice(0, 150);

/** Starts the process if it has died, loads the implementation if it is not loaded, and uploads the case. */
async function open(entry: Entry, of: AttentionCase): Promise<readonly Pass[] | string> {
  const { process } = entry;
  if (!process.running) {
    process.start();
    entry.isLoaded = false;
  }
  if (!entry.isLoaded) {
    // A process that fails to load its implementation is started again for the next case.
    Object.assign(entry, await process.ask('introduce').catch(error => end(process, error)));
    entry.isLoaded = true;
  }
  return process.ask('open', of.shape, of.dtype, of.causal);
}

function end(process: ImplementationProcess, error: unknown): never {
  process.end();
  throw error;
}

/** Runs each pass of an implementation once and compares the results with the reference. */
async function prepare(
  entry: Entry,
  of: AttentionCase,
  exact: SampledForward,
): Promise<{ readonly ready: Ready[]; readonly refused: { readonly pass: Pass; readonly note: string }[] }> {
  const passes = await open(entry, of).catch(reasonOf);
  if (typeof passes === 'string') {
    return { ready: [], refused: [{ pass: 'forward', note: `cannot run this: ${passes}` }] };
  }
  const [ready, refused] = [[] as Ready[], [] as { pass: Pass; note: string }[]];
  for (const pass of passes) {
    const error = await errorOf(entry, pass, of, exact).catch(reasonOf);
    if (typeof error === 'number') ready.push({ entry, pass, error, dispatches: 0, failure: '' });
    else refused.push({ pass, note: `failed: ${error}` });
  }
  return { ready, refused };
}

/** The error of a pass on sampled rows, as a fraction of the largest value. */
async function errorOf(
  { process }: Entry,
  pass: Pass,
  of: AttentionCase,
  exact: SampledForward,
): Promise<number> {
  const f32 = (t: Tensor): Tensor => t.cast('f32');
  const call: SampledCall = { q: f32(of.q), k: f32(of.k), v: f32(of.v), causal: of.causal };
  const places = sampleRows(call, 6);
  const results = (await process.ask('results', pass)).map(tensorOf);
  if (pass === 'forward') return errorOfO(call, results[0], places);
  const [dq, dk, dv] = results;
  return errorOfGradients(call, { ...exact, dO: f32(of.dO), dq, dk, dv }, places);
}

function isRight(pass: Pass, error: number, { dtype }: AttentionCase): boolean {
  const { forward, backward } = toleranceOf(dtype);
  return error <= (pass === 'forward' ? forward : backward);
}

function checkOwn({ entry: { key, name }, pass, error }: Ready, of: AttentionCase): void {
  if (key !== own || isRight(pass, error, of)) return;
  throw new WrongResult(`${name} ${pass} is off by ${error}`);
}

/** Milliseconds of one run; 0 after a failure, so that the other implementations go on. */
async function timed(one: Ready, round: number): Promise<number> {
  if (one.failure) return 0;
  try {
    const { ms, dispatches } = await one.entry.process.ask('run', one.pass, round);
    one.dispatches = dispatches;
    return ms;
  } catch (error) {
    one.failure = reasonOf(error);
    return 0;
  }
}

/** One line of the table, the same columns as those of the engines. */
function rowOf(of: AttentionCase, { label }: Surroundings, engine: string, pass: Pass, more: Row): Row {
  return {
    ...{ engine, pass, ...caseColumns(of), ms: '', 'TFLOP/s': '', 'of peak': '' },
    ...{ '× tilewise': '', error: '', dispatches: '', note: '', ...more },
    ...{ timer: 'wall clock', kernels: '', ...label },
  };
}
