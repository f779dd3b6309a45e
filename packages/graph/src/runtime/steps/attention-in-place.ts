import type { TensorDesc } from '@tilewise/core';
import type { PrepareAttention, TensorEngine } from '@tilewise/core/primitive';
import type { Numbers } from '../../compile/attention/options.ts';
import { wordsOf } from '../../compile/attention/seed-words.ts';
import { allNumbers, stepNumbers, stepScale, syntheticProblem } from '../../compile/attention/step-call.ts';
import { touched } from '../../compile/memory-plan.ts';
import type { AttentionStep } from '../../ir/program/attention-step.ts';
import { ownerOf, type Program } from '../../ir/program/program.ts';
import { createCallCache } from './call-cache.ts';
import { inPlace, type Operand, type PreparedCall, prepareCall } from './prepared-call.ts';
import type { PreparedStep } from './prepared-step.ts';

/** Prepares attention that writes its results in place, which `fitToKernels` has made possible. */
export function prepareAttentionInPlace<T extends TensorDesc>(
  engine: TensorEngine<T>,
  prepare: PrepareAttention<T>,
  { values }: Program,
  step: AttentionStep,
): PreparedStep<T> {
  const descOf = (value: number): Operand => ({ ...values[value].desc, value });
  const needed = stepNumbers(step);
  const { structural, scale, stream } = needed;
  const numbers = allNumbers(needed);
  const calls = createCallCache<T>();
  /** The numbers that may differ between runs. */
  const varying = numbers.filter(value => values[ownerOf(value, values)].kind !== 'constant');
  let lastCall: PreparedCall<T> | null = null;
  const synthetic = prepare(inPlace(syntheticProblem(step, descOf), step, descOf));
  const { workspaceBytes } = synthetic;
  synthetic.release();

  /**
   * The call for these numbers, independent of the scale; null if the step with these numbers is not that
   * attention.
   */
  function callFor(read: Numbers, isKept: boolean): PreparedCall<T> | null {
    const deciding = stepScale(step, read) === null ? [...structural, ...scale] : structural;
    const key = deciding.map(value => read(value).join(' ')).join();
    return calls.get(key, isKept, () => prepareCall(engine, prepare, step, descOf, read));
  }

  return {
    isRecorded: engine.recording !== undefined,
    workspaceBytes,
    values: touched(step).filter(value => !varying.includes(value)),
    numbers,
    get work() {
      return varying.length ? null : lastCall?.recurring.work;
    },
    ready: (read, isKept) => callFor(read, isKept) !== null,
    run({ tensor, numbers: read, scratch }, hasSameTensors) {
      // If this run fails or is refused, the next run does not repeat it.
      const last = lastCall;
      lastCall = null;
      const call = callFor(read, false);
      if (!call) return false;
      const { prepared, isScaled, recurring } = call;
      const scale = isScaled ? (stepScale(step, read) ?? undefined) : undefined;
      const isSame =
        hasSameTensors &&
        !stream &&
        call === last &&
        call.scale === scale &&
        // A number may also be a tensor of the call, but is not among `values`.
        ![...call.values.values()].some(value => varying.includes(value));
      lastCall = call;
      call.scale = scale;
      const workspace = scratch(prepared.workspaceBytes);
      const bound = recurring.find(isSame, tensor, workspace);
      if (bound) {
        bound.run();
        return true;
      }
      const done = prepared.run(call.tensors(tensor), {
        scale,
        ...(stream && { seed: wordsOf(read(stream.seed)), offset: wordsOf(read(stream.offset)) }),
        workspace,
      });
      return done instanceof Promise ? done.then(() => true) : true;
    },
    unbind: calls.unbind,
    release: calls.release,
  };
}
