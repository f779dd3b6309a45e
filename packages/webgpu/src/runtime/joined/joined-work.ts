import type { BoundWork } from '@tilewise/core/primitive';
import type { ByteRange } from '../../device/byte-range.ts';
import type { ComputePass } from '../../device/compute-pass.ts';
import { touch } from '../../device/gpu-work.ts';
import { workQueue } from '../../device/work-queue.ts';
import type { GpuMemory } from '../memory/gpu-memory.ts';
import { checkNotDestroyed } from '../memory/gpu-tensor.ts';
import type { PlanRun, ReadyRun } from '../plan/kernel-plan.ts';
import { compileAll } from '../plan/pipelines.ts';
import type { RecordedWork } from '../recorded-plans.ts';
import type { Recorder } from '../recorder.ts';
import { type BoundDispatches, bindDispatches } from './bind-dispatches.ts';
import { type Command, joinedDispatches } from './joined-dispatches.ts';

/**
 * Joins works that run in this order into one list of dispatches; commands that do not depend on each other
 * share a dispatch. The works run one by one until the kernels of these dispatches are compiled, which
 * happens in the background.
 */
export function joinedWork(ctx: GpuMemory, recorder: Recorder, works: readonly RecordedWork[]): BoundWork {
  const { device, capabilities } = ctx;
  const runs = works.map(({ planned }) => planned);
  const dispatches = joinedDispatches(runs.flatMap(commandsOf), capabilities.maxStorageBuffersPerShaderStage);
  const states = new Map(works.flatMap(work => work.states.map(([name, state]) => [state, name])));
  const buffers = [...new Set(runs.flatMap(run => run.buffers))];
  const { read, written } = touchedBytes(runs);
  let bound: BoundDispatches | undefined;
  let isCompiled = false;
  // If the device does not compile a kernel, the works continue to run one by one.
  device.pushErrorScope('validation');
  const compiled = compileAll(
    device,
    dispatches.map(({ kernel }) => kernel),
  );
  Promise.all([compiled, device.popErrorScope()]).then(
    ([, error]) => {
      isCompiled = error === null;
    },
    () => {},
  );

  function encode(pass: ComputePass): void {
    bound ??= bindDispatches(ctx, dispatches);
    for (const { pipeline, group, size } of bound.calls) {
      pass.setPipeline(pipeline);
      pass.setBindGroup(0, group);
      pass.dispatchWorkgroups(...size);
    }
    touch(read, written);
  }

  const run: ReadyRun = { buffers, written, encode, isCompiled: () => true, compile: async () => {} };
  return {
    run() {
      if (!isCompiled || recorder.isCallers) {
        for (const work of works) work.run();
        return;
      }
      for (const [state, name] of states) checkNotDestroyed(name, state);
      recorder.record({ run, afterwards() {} });
    },
    release() {
      // A batch that has not been submitted may use the buffer.
      workQueue(device).afterwards(() => {
        if (bound) ctx.discard(bound.uniform);
      });
    },
  };
}

/** The dispatches of a run as data. */
const commandsOf = ({ calls, parametersOf }: PlanRun): Command[] =>
  calls.map(call => ({
    ...{ kernel: call.kernel, bound: call.bound, groups: call.split.end - call.split.first },
    parameters: parametersOf(call),
  }));

/** The bytes that runs in this order read before they have written them, and those that they write. */
function touchedBytes(runs: readonly PlanRun[]): Record<'read' | 'written', readonly ByteRange[]> {
  const [read, written]: [ByteRange[], ByteRange[]] = [[], []];
  const contains = (ranges: readonly ByteRange[], { buffer, offset, size }: ByteRange): boolean =>
    ranges.some(
      other =>
        other.buffer === buffer && other.offset <= offset && offset + size <= other.offset + other.size,
    );
  for (const run of runs) {
    for (const range of run.read) if (!contains(written, range) && !contains(read, range)) read.push(range);
    for (const range of run.written) if (!contains(written, range)) written.push(range);
  }
  return { read, written };
}
