import type { Tensor } from '@tilewise/core';
import { type AttentionCase, caseColumns, toleranceOf } from '../attention-case.ts';
import { timeInTurn } from '../gpu/clock.ts';
import {
  errorOfGradients,
  errorOfO,
  type SampledCall,
  type SampledForward,
  sampleRows,
} from '../sampled-reference.ts';
import { WrongResult } from '../suite.ts';
import type { Row } from '../table.ts';
import type { Pass } from './contestant.ts';
import { ContestantProcess, type ContestantProcessOptions } from './contestant-process.ts';
import { tensorOf } from './contestant-service.ts';
import { entrantsIn, own } from './entrants.ts';

/** Somebody who takes part: a process, and what it has said of itself. */
interface Participant {
  readonly entrant: string;
  readonly process: ContestantProcess;
  /** Whether the process has loaded it. */
  isLoaded: boolean;
  name: string;
  note: string;
}

/** A pass that is right or was measured to be wrong, ready to be timed. */
interface Ready {
  readonly participant: Participant;
  readonly pass: Pass;
  readonly error: number;
  dispatches: number;
  /** Why there is no time. */
  failure: string;
}

/** What all rows of a case have. */
export interface Surroundings {
  /** TFLOP/s of the best matmul. */
  readonly roof: number;
  readonly label: Readonly<Record<string, string>>;
  progress(text: string): void;
}

/**
 * Ours, naive attention and the peers that there are, each in a process and on a device of its own on the same adapter. Processes
 * go on from case to case.
 */
export class Contest {
  readonly #participants: readonly Participant[];

  /**
   * Starts the processes. They inherit the priority of this one, so that this comes before it gives way to an adapter of software: else
   * their adapter's threads, which they start, had no way given.
   * @param folder where peers are installed, if anywhere.
   */
  constructor(folder: string | undefined, options: Omit<ContestantProcessOptions, 'name' | 'folder'>) {
    this.#participants = entrantsIn(folder).map(entrant => ({
      ...{ entrant, isLoaded: false, name: entrant, note: '' },
      process: new ContestantProcess({ ...options, name: entrant, folder: folder ?? '' }),
    }));
    for (const { process } of this.#participants) process.start();
  }

  /**
   * Times everybody on one case, in turn, round after round, by the wall clock until the queue is done. Each is checked first: its
   * error stands beside its time, and ours may not be above the tolerance.
   * @param exact o and lse of the case, known to be right; gradients are checked by them.
   * @throws WrongResult when ours is wrong.
   */
  async run(of: AttentionCase, exact: SampledForward, surroundings: Surroundings): Promise<Row[]> {
    const row = (name: string, pass: Pass, more: Row): Row => rowOf(of, surroundings, name, pass, more);
    surroundings.progress('compiling and checking all');
    // All at once: kernels of some take a software adapter a minute to compile.
    const prepared = await Promise.all(this.#participants.map(one => prepare(one, of, exact)));
    const ready = prepared.flatMap(one => one.ready);
    const refused = prepared.flatMap((one, n) =>
      one.refused.map(({ pass, note }) => row(this.#participants[n].name, pass, { note })),
    );
    for (const one of ready) checkOwn(one, of);

    surroundings.progress('all in turn');
    const times = await timeInTurn(ready.map(one => round => timed(one, round)));
    for (const { process } of this.#participants) {
      if (process.running) await process.ask('close').catch(() => process.end());
    }
    const ownMs = (pass: Pass): number | undefined =>
      times[ready.findIndex(one => one.participant.entrant === own && one.pass === pass && !one.failure)]
        ?.median;
    const measured = ready.map(({ participant: { name, note }, pass, error, dispatches, failure }, n) => {
      if (failure) return row(name, pass, { error, note: `failed: ${failure}` });
      const ms = times[n].median;
      const flops = of.flops.forward + (pass === 'forward' ? 0 : of.flops.backward);
      const tflops = flops / ms / 1e9;
      const mine = ownMs(pass);
      return row(name, pass, {
        ...{ ms, 'TFLOP/s': tflops, 'of roof': tflops / surroundings.roof },
        ...{ '× tilewise': mine === undefined ? '' : ms / mine, error, dispatches },
        note: isRight(pass, error, of) ? note : ['wrong', note].filter(Boolean).join('; '),
      });
    });
    return [...measured, ...refused];
  }

  /** Ends all processes. */
  end(): void {
    for (const { process } of this.#participants) process.end();
  }
}

const reasonOf = (error: unknown): string =>
  String(error instanceof Error ? error.message : error).slice(0, 150);

/** Loads it if it is not, starting it anew if it has died, and puts the case on its GPU. */
async function open(participant: Participant, of: AttentionCase): Promise<readonly Pass[] | string> {
  const { process } = participant;
  if (!process.running) {
    process.start();
    participant.isLoaded = false;
  }
  if (!participant.isLoaded) {
    // What cannot introduce itself starts anew for the next case.
    Object.assign(participant, await process.ask('introduce').catch(error => end(process, error)));
    participant.isLoaded = true;
  }
  return process.ask('open', of.shape, of.dtype, of.causal);
}

function end(process: ContestantProcess, error: unknown): never {
  process.end();
  throw error;
}

/** Has a participant run each of its passes once, and compares the results. */
async function prepare(
  participant: Participant,
  of: AttentionCase,
  exact: SampledForward,
): Promise<{ readonly ready: Ready[]; readonly refused: { readonly pass: Pass; readonly note: string }[] }> {
  const passes = await open(participant, of).catch(reasonOf);
  if (typeof passes === 'string') {
    return { ready: [], refused: [{ pass: 'forward', note: `cannot run this: ${passes}` }] };
  }
  const [ready, refused] = [[] as Ready[], [] as { pass: Pass; note: string }[]];
  for (const pass of passes) {
    const error = await errorOf(participant, pass, of, exact).catch(reasonOf);
    if (typeof error === 'number') ready.push({ participant, pass, error, dispatches: 0, failure: '' });
    else refused.push({ pass, note: `failed: ${error}` });
  }
  return { ready, refused };
}

/** How far off a pass is on sampled rows, as a fraction of the largest value. */
async function errorOf(
  { process }: Participant,
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

function checkOwn({ participant: { entrant, name }, pass, error }: Ready, of: AttentionCase): void {
  if (entrant !== own || isRight(pass, error, of)) return;
  throw new WrongResult(`${name} ${pass} is off by ${error}`);
}

/** Milliseconds of one run; 0 once it has failed, so that the others can go on. */
async function timed(one: Ready, round: number): Promise<number> {
  if (one.failure) return 0;
  try {
    const { ms, dispatches } = await one.participant.process.ask('run', one.pass, round);
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
    ...{ engine, pass, ...caseColumns(of), ms: '', 'TFLOP/s': '', 'of roof': '' },
    ...{ '× tilewise': '', error: '', dispatches: '', note: '', ...more },
    ...{ timer: 'wall clock', kernels: '', ...label },
  };
}
