import type { OutputSelection, Tensor, TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import type { AttentionStep } from '../lowering/attention-step.ts';
import type { Program, ProgramValue, Step } from '../lowering/program.ts';
import { attentionOptions, type OptionSource } from './attention-options.ts';
import { copyInto } from './copy-into.ts';
import { type MemoryPlan, planMemory } from './memory-plan.ts';
import { runAttentionCall } from './run-attention-call.ts';

/** Tensors by the id of the logical tensor. */
export type ById<V> = ReadonlyMap<number, V>;

/** A program that is ready to run on an engine: pipelines prepared, memory for temporaries allocated. */
export interface Executable<T extends TensorDesc> {
  /** Bytes of the temporaries, and of the program's own constants. */
  readonly workspaceBytes: number;
  /**
   * Runs the program. `scalars` are the inputs whose numbers the host knows; the numbers of other inputs that an attention call
   * needs (scale, seed…) are read back from the engine.
   */
  run(inputs: ById<T>, outputs: ById<T>, scalars: ById<Tensor>): Promise<void>;
  release(): void;
}

/** Readies a program for an engine. */
export function prepareProgram<T extends TensorDesc>(
  engine: TensorEngine<T>,
  program: Program,
): Executable<T> {
  const { primitives } = engine;
  const plan = planMemory(program);
  const slots = plan.slots.map(({ dtype, length }) =>
    primitives.allocate({ dtype, shape: [Math.max(length, 1)] }),
  );
  const constants = new Map<number, T>();
  program.values.forEach((value, n) => {
    if (value.kind === 'constant') constants.set(n, engine.upload(value.data));
  });
  const prepared = program.steps.map(step => prepareStep(engine, program, step));
  const scratchBytes = prepared.reduce((most, { workspaceBytes }) => Math.max(most, workspaceBytes), 0);
  const scratch =
    scratchBytes > 0
      ? primitives.allocate({ dtype: 'u32', shape: [Math.ceil(scratchBytes / 4)] })
      : undefined;
  const fixed = fixedTensors(engine, program, plan, slots, constants);

  return {
    workspaceBytes: plan.bytes + scratchBytes,
    async run(inputs, outputs, scalars) {
      const tensors = new Map(fixed);
      const tensor = (n: number): T => {
        const known = tensors.get(n);
        if (known) return known;
        const made = bind(engine, program.values[n], inputs, outputs, tensor);
        tensors.set(n, made);
        return made;
      };
      const source: OptionSource<T> = {
        tensor,
        numbers: n => readNumbers(engine, program, n, scalars, tensor),
      };
      for (const step of prepared) await step.run(tensor, source, scratch);
    },
    release() {
      for (const step of prepared) step.release();
      for (const t of [...slots, ...constants.values(), ...(scratch ? [scratch] : [])]) engine.release(t);
    },
  };
}

interface PreparedStep<T> {
  readonly workspaceBytes: number;
  run(tensor: (value: number) => T, source: OptionSource<T>, scratch: T | undefined): Promise<void> | void;
  release(): void;
}

function prepareStep<T extends TensorDesc>(
  engine: TensorEngine<T>,
  program: Program,
  step: Step,
): PreparedStep<T> {
  const descOf = (n: number): TensorDesc => program.values[n].desc;
  if (step.kind === 'primitive') {
    const { primitive, inputs, outputs } = step;
    const prepared = engine.primitives.prepare(primitive, inputs.map(descOf), outputs.map(descOf));
    return {
      workspaceBytes: prepared.workspaceBytes,
      run: (tensor, _, scratch) => prepared.run(inputs.map(tensor), outputs.map(tensor), scratch),
      release: () => prepared.release(),
    };
  }
  return {
    workspaceBytes: 0,
    run: (tensor, source) =>
      step.kind === 'attention-call'
        ? runAttentionCall(engine, step, source)
        : runAttention(engine, step, tensor, source),
    release: () => {},
  };
}

async function runAttention<T extends TensorDesc>(
  engine: TensorEngine<T>,
  step: AttentionStep,
  tensor: (value: number) => T,
  source: OptionSource<T>,
): Promise<void> {
  const [q, k, v] = [step.q, step.k, step.v].map(tensor);
  const extents = { Sq: q.shape[2], Skv: k.shape[2] };
  // An engine takes host tensors as masks and captures; its own type says so for options only.
  const options = (await attentionOptions(step.options, extents, source)) as Parameters<
    TensorEngine<T>['sdpa']
  >[3];
  const results =
    step.kind === 'sdpa'
      ? {
          ...(await engine.sdpa(q, k, v, {
            ...options,
            outDType: step.outDType,
            outputs: rowOutputs(step.results),
          })),
          dCaptures: {},
        }
      : await engine.sdpaBackward(
          { q, k, v, o: tensor(step.o), lse: tensor(step.lse), dO: tensor(step.dO) },
          { ...options, gradients: gradientNames.filter(name => step.results[name] !== undefined) },
        );
  const { dCaptures, ...named } = results;
  const others: Readonly<Record<string, T>> = dCaptures ?? {};
  const made: Readonly<Partial<Record<string, T>>> = named;
  for (const [name, value] of Object.entries(step.results)) {
    const result = made[name];
    if (result === undefined || value === undefined) continue;
    const to = tensor(value);
    copyInto(engine, result, to);
  }
  for (const result of [...Object.values(made), ...Object.values(others)]) {
    if (result !== undefined) engine.release(result);
  }
}

function rowOutputs({ max, sumExp }: { readonly max?: number; readonly sumExp?: number }): OutputSelection {
  return { max: max !== undefined, sumExp: sumExp !== undefined };
}

const gradientNames = ['dq', 'dk', 'dv', 'dbias'] as const;

/** Temporaries, constants and views of those: the same in every run. */
function fixedTensors<T extends TensorDesc>(
  engine: TensorEngine<T>,
  { values }: Program,
  plan: MemoryPlan,
  slots: readonly T[],
  constants: ReadonlyMap<number, T>,
): Map<number, T> {
  const fixed = new Map(constants);
  values.forEach((value, n) => {
    const { shape, strides } = value.desc;
    const slot = plan.slotOf.get(n);
    const base = value.kind === 'view' ? fixed.get(value.of) : slot === undefined ? undefined : slots[slot];
    if (base !== undefined && (value.kind === 'view' || value.kind === 'temporary')) {
      fixed.set(n, engine.primitives.view(base, { shape, strides }));
    }
  });
  return fixed;
}

function bind<T extends TensorDesc>(
  engine: TensorEngine<T>,
  value: ProgramValue,
  inputs: ById<T>,
  outputs: ById<T>,
  tensor: (n: number) => T,
): T {
  const { shape, strides } = value.desc;
  const base =
    value.kind === 'view'
      ? tensor(value.of)
      : value.kind === 'input'
        ? inputs.get(value.tensor)
        : value.kind === 'output'
          ? outputs.get(value.tensor)
          : undefined;
  if (base === undefined) throw new Error(`no tensor for a ${value.kind} of the program`);
  return value.kind === 'view' ? engine.primitives.view(base, { shape, strides }) : base;
}

function readNumbers<T extends TensorDesc>(
  engine: TensorEngine<T>,
  { values }: Program,
  n: number,
  scalars: ById<Tensor>,
  tensor: (n: number) => T,
): Promise<Float64Array> | Float64Array {
  const value = values[n];
  if (value.kind === 'constant') return value.data.toFloat64();
  const onHost = value.kind === 'input' ? scalars.get(value.tensor) : undefined;
  if (onHost) return onHost.toFloat64();
  return engine.download(tensor(n)).then(t => t.toFloat64());
}
