import { Tensor } from '@tilewise/core';
import { summary } from '@tilewise/device-report/measure';
import { openWebGpu } from '../gpu/open-webgpu.ts';
import { countDispatches, openPeerEnvironment } from '../peers/peer-environment.ts';
import type { SuiteOptions } from '../suite/suite.ts';
import { attentionCase, type CaseDType, type Shape4 } from '../workloads/attention/attention-case.ts';
import type { Implementation, OpenCase, Pass } from './implementation.ts';
import { isPeer, loadImplementation } from './implementations.ts';

/** A case as sent to another process, which generates the same inputs from it. */
export type CaseName = readonly [shape: Shape4, dtype: CaseDType, causal: boolean];

/** The values of an f32 tensor. */
export interface Values {
  readonly shape: readonly number[];
  readonly values: Float32Array;
}

/**
 * One turn of an implementation: the milliseconds until the queue was done and the number of dispatches, for
 * one run of a pass.
 */
export interface Run {
  readonly ms: number;
  readonly dispatches: number;
}

/** The calls that the process of an implementation answers. */
export interface ImplementationService {
  /** Loads the implementation. */
  introduce(): Promise<{ readonly name: string; readonly note: string }>;
  /**
   * The passes of a case that the implementation can run, or why it cannot run any. One case is open at a
   * time.
   */
  open(...of: CaseName): Promise<readonly Pass[] | string>;
  /** o, or dq, dk and dv. */
  results(pass: Pass): Promise<readonly Values[]>;
  run(pass: Pass, turn: number): Promise<Run>;
  close(): Promise<void>;
}

/** The arguments for the process of an implementation. */
export interface ImplementationOptions {
  /** One of the names in `implementations.ts`. */
  readonly name: string;
  /** Where peers are installed. */
  readonly folder: string;
  /** The options for opening the device, as on the command line. */
  readonly device: SuiteOptions;
}

/** The counted runs of a turn take at least this many milliseconds; a turn has at least one run. */
const minMs = 100;

/** An implementation on its own device. */
export function implementationService({
  name,
  folder,
  device,
}: ImplementationOptions): ImplementationService {
  let loaded: { readonly implementation: Implementation; readonly done: () => Promise<unknown> } | undefined;
  let opened: OpenCase | undefined;
  let dispatches = (): number => 0;
  const openCase = (): OpenCase => {
    if (!opened) throw new Error('no case is open');
    return opened;
  };
  return {
    async introduce() {
      const bench = await openWebGpu(device);
      if (isPeer(name)) openPeerEnvironment(bench);
      dispatches = countDispatches();
      const implementation = await loadImplementation(name, bench, folder);
      const done = async (): Promise<void> => {
        await bench.ctx.submitted();
        await bench.device.queue.onSubmittedWorkDone();
      };
      loaded = { implementation, done };
      return { name: implementation.name, note: implementation.note };
    },
    async open(...of) {
      if (!loaded) throw new Error('the implementation is not loaded');
      const made = await loaded.implementation.open(attentionCase(...of));
      if (typeof made === 'string') return made;
      opened = made;
      return made.training ? ['forward', 'forward + backward'] : ['forward'];
    },
    async results(pass) {
      const one = openCase();
      if (pass === 'forward') return [valuesOf(await one.o())];
      const gradients = await one.gradients?.();
      if (!gradients) throw new Error('the implementation has no backward pass');
      return [gradients.dq, gradients.dk, gradients.dv].map(valuesOf);
    },
    async run(pass, turn) {
      const one = openCase();
      let dispatched = 0;
      const once = async (round: number): Promise<number> => {
        const before = dispatches();
        const start = performance.now();
        await (pass === 'forward' ? one.forward(round) : one.training?.(round));
        await loaded?.done();
        dispatched = dispatches() - before;
        return performance.now() - start;
      };
      // During the others' turns, this process has lost its caches and, with some drivers, its GPU memory, so
      // a short first run does not count.
      const first = await once(turn);
      const times = first < minMs ? [] : [first];
      for (let total = times[0] ?? 0; total < minMs; total += times[times.length - 1]) {
        times.push(await once(turn + times.length + 1));
      }
      return { ms: summary(times).median, dispatches: dispatched };
    },
    async close() {
      await opened?.close();
      opened = undefined;
    },
  };
}

const valuesOf = (tensor: Tensor): Values => ({ shape: tensor.shape, values: tensor.toFloat32() });

/** Turns received values into a tensor. */
export const tensorOf = ({ shape, values }: Values): Tensor => Tensor.wrap(values, { dtype: 'f32', shape });
