import type { DType } from '@tilewise/core';
import { ownerOf, type PrimitiveStep, type Program, type Step } from '../../ir/program/program.ts';
import { usersOf } from './placed-step.ts';

/** The float dtypes to which an f32 result is rounded when it is stored. */
const narrow: readonly DType[] = ['f16', 'bf16'];

/**
 * Stores f32 results in 16 bits if all that reads them are casts to these 16 bits, which become copies. A
 * step that copies elements, such as a transpose, is a cast if its result is narrower than what it reads.
 */
export function narrowResults(program: Program): Program {
  const values = [...program.values];
  const users = usersOf(program);
  const dtypeOf = (value: number): DType => values[value].desc.dtype;

  /** The 16-bit dtype of which a step copies f32 elements; null for any other step. */
  function narrowedBy(step: Step): DType | null {
    if (step.kind !== 'primitive' || step.primitive.kind !== 'map' || step.inputs.length !== 1) return null;
    const { value } = step.primitive;
    const dtype = dtypeOf(step.outputs[0]);
    const isCopy = value.kind === 'load' && value.name === 'x0' && dtypeOf(step.inputs[0]) === 'f32';
    return isCopy && narrow.includes(dtype) ? dtype : null;
  }

  /** The 16-bit dtype that all readers of a step's result cast it to; null if there is none. */
  function wanted(step: PrimitiveStep): DType | null {
    const [output] = step.outputs;
    const owner = ownerOf(output, values);
    if (step.outputs.length > 1 || owner !== output || values[owner].kind !== 'temporary') return null;
    const [writer, ...readers] = users.get(owner) ?? [];
    if (dtypeOf(owner) !== 'f32' || writer !== step || readers.length === 0) return null;
    const dtypes = new Set(readers.map(narrowedBy));
    return dtypes.size === 1 ? [...dtypes][0] : null;
  }

  for (const step of [...program.steps].reverse()) {
    if (step.kind !== 'primitive' || !canRound(step)) continue;
    const dtype = wanted(step);
    if (dtype === null) continue;
    for (const [n, value] of values.entries())
      if (ownerOf(n, values) === step.outputs[0]) values[n] = { ...value, desc: { ...value.desc, dtype } };
  }
  return { values, steps: program.steps };
}

/** Whether a step computes in f32 and rounds its result to the dtype in which it is stored. */
function canRound({ primitive }: PrimitiveStep): boolean {
  if (primitive.kind === 'map') return primitive.value.type === 'f32';
  return primitive.kind === 'matmul' || (primitive.kind === 'reduce' && primitive.element.type === 'f32');
}
