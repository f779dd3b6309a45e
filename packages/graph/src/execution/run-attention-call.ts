import type { OutputSelection, SdpaBackwardOptions, TensorDesc } from '@tilewise/core';
import type { TensorEngine } from '@tilewise/core/primitive';
import { joinU64 } from '@tilewise/philox';
import {
  type AttentionCallStep,
  callOptions,
  gradientNames,
  type OperandName,
  operandForm,
} from '../lowering/attention-call.ts';
import type { OptionSource } from './attention-options.ts';
import { copyInto } from './copy-into.ts';

/** Makes the call, and copies what it gives to where the graph wants it. */
export async function runAttentionCall<T extends TensorDesc>(
  engine: TensorEngine<T>,
  step: AttentionCallStep,
  source: OptionSource<T>,
): Promise<void> {
  const names = Object.keys(step.operands) as OperandName[];
  const at = (name: OperandName): number => step.operands[name];
  const numbers = new Map<OperandName, number | bigint>();
  for (const name of names) {
    if (operandForm(name) === 'number') numbers.set(name, numberOf(name, source.numbers(at(name))));
  }
  const tensor = (name: OperandName): T => source.tensor(at(name));
  const options = callOptions(names, step.settings, {
    tensor,
    number: name => numbers.get(name) as number | bigint,
  });
  const results = await call(engine, step, tensor, options, name => source.tensor(step.results[name]));
  const made: Readonly<Partial<Record<string, T>>> = results;
  for (const [name, value] of Object.entries(step.results)) {
    const result = made[name];
    if (result) copyInto(engine, result, source.tensor(value));
  }
  for (const result of Object.values(made)) if (result) engine.release(result);
}

async function call<T extends TensorDesc>(
  engine: TensorEngine<T>,
  { pass, operands, results }: AttentionCallStep,
  tensor: (name: OperandName) => T,
  options: ReturnType<typeof callOptions<T>>,
  result: (name: string) => T,
): Promise<Readonly<Partial<Record<string, T>>>> {
  const [q, k, v] = [tensor('q'), tensor('k'), tensor('v')];
  const outputs = Object.fromEntries(Object.keys(results).map(name => [name, true])) as OutputSelection;
  if (pass === 'forward') {
    const outDType = results.o === undefined ? q.dtype : result('o').dtype;
    return { ...(await engine.sdpa(q, k, v, { ...options, outDType, outputs: selected(outputs) })) };
  }
  const inputs = {
    ...{ q, k, v, o: tensor('o'), lse: tensor('lse'), dO: tensor('dO') },
    ...(operands.dLse !== undefined && { dLse: tensor('dLse') }),
  };
  const asked: SdpaBackwardOptions<T> = {
    ...options,
    gradients: gradientNames.filter(name => results[name] !== undefined),
    ...gradDType(['dq', 'dk', 'dv'].filter(name => results[name] !== undefined).map(result)),
    outputs: selected(outputs),
  };
  const { dCaptures: _, ...gradients } = await engine.sdpaBackward(inputs, asked);
  return gradients;
}

const selectable = [
  ...['max', 'sumExp', 'dropoutMask', 'amaxS', 'amaxO'],
  ...['amaxDQ', 'amaxDK', 'amaxDV', 'amaxDP'],
];

function selected(outputs: OutputSelection): OutputSelection {
  return Object.fromEntries(Object.entries(outputs).filter(([name]) => selectable.includes(name)));
}

/** The dtype of gradients that all have one, so that each is rounded once. */
function gradDType<T extends TensorDesc>(results: readonly T[]): Pick<SdpaBackwardOptions<T>, 'gradDType'> {
  const [first] = results;
  return first && results.every(t => t.dtype === first.dtype) ? { gradDType: first.dtype } : {};
}

function numberOf(name: OperandName, read: Float64Array): number | bigint {
  if (name !== 'dropout.seed' && name !== 'dropout.offset') return read[0];
  return read.length === 2 ? joinU64([read[0], read[1]]) : BigInt.asUintN(64, BigInt(read[0]));
}
