import {
  type AttentionProblem,
  type BackwardProblem,
  contiguousDesc,
  describeDense,
  dtypeInfo,
  type OperandDesc,
  Tensor,
  type TensorDesc,
} from '@tilewise/core';
import type { PrepareAttention, PreparedAttention, TensorEngine } from '@tilewise/core/primitive';
import { fp8ListOf } from '../../compile/attention/fp8-list.ts';
import type { Numbers } from '../../compile/attention/options.ts';
import { wordsOf } from '../../compile/attention/seed-words.ts';
import {
  allNumbers,
  resultsOf,
  stepCall,
  stepNumbers,
  stepScale,
  syntheticProblem,
} from '../../compile/attention/step-call.ts';
import { touched } from '../../compile/memory-plan.ts';
import type { AttentionStep } from '../../ir/program/attention-step.ts';
import { ownerOf, type Program } from '../../ir/program/program.ts';
import type { PreparedStep } from './prepared-step.ts';
import { type RecurringWork, recurringWork } from './recurring-work.ts';

/** The maximum number of prepared calls that are kept for numbers that may recur. */
const MAX_SPARE_CALLS = 16;

/** A value of the program that stands for its tensor. */
interface Operand extends TensorDesc {
  readonly value: number;
}

/** A prepared attention problem. */
interface Call<T extends object> {
  readonly prepared: PreparedAttention<T>;
  /** The values of the tensors, by the names that engines use. */
  readonly values: ReadonlyMap<string, number>;
  /** Tensors that the call owns. */
  readonly own: Readonly<Record<string, T>>;
  /** Whether the scale is an option of the call; otherwise the score mod applies it. */
  readonly isScaled: boolean;
  /** The call on tensors that recur. */
  readonly recurring: RecurringWork<T>;
  /** The scale of the last run. */
  scale?: number | undefined;
}

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
  /** Calls by their numbers. `kept` calls may be in a caller's encoder; `spare` calls are in order of use. */
  const kept = new Map<string, Call<T>>();
  const spare = new Map<string, Call<T>>();
  /** The numbers that may differ between runs. */
  const varying = numbers.filter(value => values[ownerOf(value, values)].kind !== 'constant');
  let lastCall: Call<T> | null = null;
  const synthetic = prepare(syntheticProblem(step, descOf));
  const { workspaceBytes } = synthetic;
  synthetic.release();

  /**
   * The call for these numbers, independent of the scale; null if the step with these numbers is not that
   * attention.
   */
  function callFor(read: Numbers, isKept: boolean): Call<T> | null {
    const deciding = stepScale(step, read) === null ? [...structural, ...scale] : structural;
    const key = deciding.map(value => read(value).join(' ')).join();
    const call = kept.get(key) ?? spare.get(key) ?? makeCall(engine, prepare, step, descOf, read);
    if (!call) return null;
    spare.delete(key);
    (isKept || kept.has(key) ? kept : spare).set(key, call);
    const [oldest] = spare;
    if (spare.size > MAX_SPARE_CALLS) {
      spare.delete(oldest[0]);
      drop(engine, oldest[1]);
    }
    return call;
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
      const done = prepared.run(tensorsOf(call, tensor), {
        scale,
        ...(stream && { seed: wordsOf(read(stream.seed)), offset: wordsOf(read(stream.offset)) }),
        workspace,
      });
      return done instanceof Promise ? done.then(() => true) : true;
    },
    unbind() {
      for (const { recurring } of [...kept.values(), ...spare.values()]) recurring.release();
    },
    release() {
      for (const calls of [kept, spare]) {
        for (const call of calls.values()) drop(engine, call);
        calls.clear();
      }
    },
  };
}

/** Prepares a call and uploads the tensors that it owns; on an error it frees everything. */
function makeCall<T extends TensorDesc>(
  engine: TensorEngine<T>,
  prepare: PrepareAttention<T>,
  step: AttentionStep,
  descOf: (value: number) => Operand,
  numbers: Numbers,
): Call<T> | null {
  const described = stepCall(step, descOf, numbers);
  if (!described) return null;
  const { problem, operands } = described;
  const results = resultsOf(step);
  const values = new Map(
    results
      .filter(([name]) => !name.startsWith('amax'))
      // The plain name already belongs to an operand.
      .map(([name, value]) => [name === 'dropoutMask' ? 'outputs.dropoutMask' : name, value]),
  );
  const { scoreMod } = 'forward' in problem ? problem.forward : problem;
  const isScaled = step.kind === 'attention-call' || scoreMod === null;
  const own: Record<string, T> = {};
  const prepared = prepare(inPlace(problem, results, descOf));
  const list = step.kind === 'sdpa-backward' ? undefined : step.fp8List;
  try {
    for (const [name, operand] of named(operands)) {
      if (name === 'fp8' && list !== undefined) values.set(name, list);
      else if (name === 'fp8') own[name] = engine.upload(fp8ListOf(operand as Record<string, Tensor>));
      else if (operand instanceof Tensor) own[name] = engine.upload(operand);
      else values.set(name, (operand as Operand).value);
    }
    // Engines also compute the gradients of a mod's captures, but no program uses them.
    if ('forward' in problem && problem.forward.scoreMod) {
      for (const [name, { dtype, shape }] of Object.entries(problem.forward.captures)) {
        if (dtypeInfo[dtype].kind === 'float') {
          own[`dCaptures.${name}`] = engine.primitives.allocate({ dtype, shape });
        }
      }
    }
  } catch (error) {
    drop(engine, { prepared, own });
    throw error;
  }
  const recurring = recurringWork<T>((tensor, workspace) =>
    prepared.bind?.(tensorsOf(call, tensor), { scale: call.scale, workspace }),
  );
  const call: Call<T> = { prepared, values, own, isScaled, recurring };
  return call;
}

/** The tensors of a call, by the names that engines use. */
function tensorsOf<T extends object>(
  { values, own }: Call<T>,
  tensor: (value: number) => T,
): Record<string, T> {
  return { ...own, ...Object.fromEntries([...values].map(([name, value]) => [name, tensor(value)])) };
}

function drop<T extends TensorDesc>(
  engine: TensorEngine<T>,
  { prepared, own, recurring }: Pick<Call<T>, 'prepared' | 'own'> & Partial<Call<T>>,
): void {
  recurring?.release();
  prepared.release();
  for (const tensor of Object.values(own)) engine.release(tensor);
}

/** Operands by the names that engines use; the FP8 scalars remain one entry. */
function named(operands: object): (readonly [string, Operand | Tensor | object])[] {
  return Object.entries(operands).flatMap(([name, operand]) => {
    if (name !== 'captures') return [[name, operand] as const];
    return Object.entries<object>(operand).map(([capture, t]) => [`captures.${capture}`, t] as const);
  });
}

/** Gives the results of a problem the layouts of the values that they are written to. */
function inPlace(
  problem: AttentionProblem | BackwardProblem,
  results: readonly (readonly [string, number])[],
  descOf: (value: number) => TensorDesc,
): AttentionProblem | BackwardProblem {
  const layouts = results
    .filter(([name]) => ['o', 'dq', 'dk', 'dv'].includes(name))
    .map(([name, value]) => {
      const asked = (problem as unknown as Readonly<Record<string, OperandDesc>>)[name];
      const isStrided = asked.starts === 'strided';
      return [name, isStrided ? describeDense(name, descOf(value)) : contiguousDesc(asked)] as const;
    });
  return { ...problem, ...Object.fromEntries(layouts) };
}
