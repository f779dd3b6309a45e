import type { Tensor } from '@tilewise/core';
import { type AttentionCase, caseColumns, toleranceOf } from '../attention-case.ts';
import { timeInTurn } from '../gpu/clock.ts';
import type { BenchGpu } from '../open-webgpu.ts';
import {
  errorOfGradients,
  errorOfO,
  type SampledCall,
  type SampledForward,
  sampleRows,
} from '../sampled-reference.ts';
import { WrongResult } from '../suite.ts';
import type { Row } from '../table.ts';
import type { Contestant, Entry } from './contestant.ts';
import type { PeerEnvironment } from './peer-environment.ts';

type Pass = 'forward' | 'forward + backward';

/** Work that is ready to be timed, and what is known of it. */
interface Ready {
  readonly contestant: Contestant;
  readonly pass: Pass;
  readonly error: number;
  readonly dispatches: number;
  run(): Promise<unknown>;
}

/**
 * Times every contestant on one case, in turn, round after round, by the wall clock until the queue is done. Each is checked
 * first: its error stands beside its time, and ours may not be above the tolerance.
 * @param exact o and lse of the case, known to be right; gradients are checked by them.
 * @throws WrongResult when ours, the first, is wrong.
 */
export async function contest(
  bench: BenchGpu,
  environment: PeerEnvironment,
  contestants: readonly Contestant[],
  of: AttentionCase,
  exact: SampledForward,
  progress: (text: string) => void,
): Promise<Row[]> {
  const { device, label } = bench;
  const f32 = (t: Tensor): Tensor => t.cast('f32');
  const call: SampledCall = { q: f32(of.q), k: f32(of.k), v: f32(of.v), causal: of.causal };
  const places = sampleRows(call, 6);
  const tolerance = toleranceOf(of.dtype);
  const ready: Ready[] = [];
  const entries: Entry[] = [];
  const rows: Row[] = [];
  const row = (name: string, pass: Pass, more: Row): Row => ({
    ...{ engine: name, pass, ...caseColumns(of) },
    ...{
      ms: '',
      'TFLOP/s': '',
      'of roof': '',
      '× tilewise': '',
      error: '',
      dispatches: '',
      note: '',
      ...more,
    },
    ...{ timer: 'wall clock', kernels: '', ...label },
  });

  for (const contestant of contestants) {
    progress(`checking ${contestant.name}`);
    const entry = await contestant.open(of).catch((error: unknown) => String(error));
    if (typeof entry === 'string') {
      rows.push(row(contestant.name, 'forward', { note: `cannot run this: ${entry}` }));
      continue;
    }
    entries.push(entry);
    const add = async (pass: Pass, run: () => Promise<unknown>, check: () => Promise<number>) => {
      try {
        const error = await check();
        const before = environment.dispatches();
        await run();
        await device.queue.onSubmittedWorkDone();
        ready.push({ contestant, pass, error, dispatches: environment.dispatches() - before, run });
      } catch (error) {
        rows.push(row(contestant.name, pass, { note: `failed: ${String(error).slice(0, 100)}` }));
      }
    };
    await add('forward', entry.forward, async () => errorOfO(call, await entry.o(), places));
    const { training, gradients } = entry;
    if (training && gradients) {
      const dO = f32(of.dO);
      await add('forward + backward', training, async () =>
        errorOfGradients(call, { ...exact, dO, ...(await gradients()) }, places),
      );
    }
  }
  const wrong = ready.find(
    ({ contestant, pass, error }) =>
      contestant === contestants[0] &&
      !(error <= (pass === 'forward' ? tolerance.forward : tolerance.backward)),
  );
  if (wrong) throw new WrongResult(`${wrong.contestant.name} ${wrong.pass} is off by ${wrong.error}`);

  progress('all in turn');
  const times = await timeInTurn(
    ready.map(({ run }) => async () => {
      const start = performance.now();
      await run();
      await device.queue.onSubmittedWorkDone();
      return performance.now() - start;
    }),
  );
  for (const entry of entries) entry.close();
  const ours = (pass: Pass): number | undefined =>
    times[ready.findIndex(one => one.contestant === contestants[0] && one.pass === pass)]?.median;
  const measured = ready.map(({ contestant, pass, error, dispatches }, n) => {
    const ms = times[n].median;
    const flops = of.flops.forward + (pass === 'forward' ? 0 : of.flops.backward);
    const own = ours(pass);
    const ratio = own === undefined ? '' : ms / own;
    return row(contestant.name, pass, {
      ...{ ms, 'TFLOP/s': flops / ms / 1e9, '× tilewise': ratio, error, dispatches, note: contestant.note },
    });
  });
  return [...measured, ...rows];
}
