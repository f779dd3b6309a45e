import { Tensor } from '@tilewise/core';
import { constant, div, ge, or, select, sub } from '@tilewise/core/expr';
import { input } from '@tilewise/core/primitive';
import type { Lowering, Value } from '../ir/program/lowering.ts';
import { defineOperations } from '../ir/schema/define.ts';
import type { Operation } from '../ir/schema/operation.ts';
import type { LogicalTensor } from '../ir/tensor/logical-tensor.ts';
import { checkShape } from '../ir/tensor/shape.ts';

export const randomSchemas = {
  Dropout: {
    inputs: 'src:T seed:T1=i64 offset:T2=i64 probability?:T3=f32',
    outputs: 'dst:T mask?:T4=u8',
    attributes: { p: { type: 'f32' } },
  },
  RNG: {
    inputs: 'src:T seed:T1=i64 offset:T2=i64',
    outputs: 'dst:T3=floats|u8',
    attributes: {
      distribution_mode: { type: 'string', default: 'BERNOULLI', among: ['BERNOULLI', 'UNIFORM'] },
      p: { type: 'f32', default: 0.5 },
    },
  },
} as const;

function wrongProbability(p: number | undefined): string | null {
  return p === undefined || (p >= 0 && p < 1) ? null : `attribute 'p' must be in [0, 1), got ${p}`;
}

/** Checks that tensors are scalars, as far as their shapes are known. */
function checkScalars(tensors: readonly LogicalTensor[]): void {
  for (const { shape } of tensors) if (shape?.length) checkShape('scalars, of shape [] or', shape, [1]);
}

/** The two words of a 64-bit scalar, in the form that the primitive takes. */
function words(lowering: Lowering, value: Value): Value {
  return lowering.view(value, [2], [1]);
}

function probabilityOf(lowering: Lowering, p: number | undefined): Value {
  return lowering.view(lowering.inputs[3] ?? lowering.constant(Tensor.from([p ?? 0], [])), [], []);
}

/** Random numbers from Philox, determined by a seed, an offset and the element's index. */
export const randomOperations: readonly Operation[] = defineOperations(randomSchemas, {
  /**
   * src / (1 − p) with probability 1 − p, else 0. Philox decides from the seed, the offset and the index of
   * the element. p is the fourth input or the attribute.
   */
  Dropout: {
    constraint: ({ attributes: { p }, inputs }) => {
      if ((inputs.length === 4) === (p !== undefined)) {
        return "needs a probability: the input 'probability' or the attribute 'p'";
      }
      return wrongProbability(p);
    },
    gradient: ({ builder, attributes: { p }, inputs: [, ...numbers], outputGradients: [dy] }) => {
      if (!dy) return [];
      const operands = () => [dy, ...numbers.map(t => builder.forward(t))];
      return [() => builder.op('Dropout', operands(), p === undefined ? {} : { p })];
    },
    infer: ({ inputs: [{ shape }, ...numbers], outputs }) => {
      checkScalars(numbers);
      return outputs.map(() => shape);
    },
    lower: (lowering, { attributes }) => {
      const [src, seed, offset] = lowering.inputs;
      const [dst, mask] = lowering.outputs;
      const p = probabilityOf(lowering, attributes.p);
      const keep = lowering.temporary(src.desc.shape, 'bool');
      lowering.random('bernoulli', [words(lowering, seed), words(lowering, offset), p], keep);
      const scaled = div(input(0), sub(1, input(2)));
      lowering.map(select(input(1, 'bool'), select(ge(input(2), 1), 0, scaled), 0), [src, keep, p], dst);
      if (mask) lowering.map(select(or(input(0, 'bool')), constant(1), constant(0)), [keep], mask);
    },
  },
  /**
   * Random numbers in the shape of src. BERNOULLI: 1 with probability 1 − p, else 0. UNIFORM: uniform in (0,
   * 1], like cuRAND. Not an operation of oneDNN.
   */
  RNG: {
    constraint: ({ attributes }) => wrongProbability(attributes.p),
    gradient: 'zero',
    infer: ({ inputs: [{ shape }, ...numbers] }) => {
      checkScalars(numbers);
      return [shape];
    },
    lower: (lowering, { attributes: { distribution_mode: mode, p } }) => {
      const { inputs, outputs } = lowering;
      const stream = [words(lowering, inputs[1]), words(lowering, inputs[2])];
      if (mode === 'UNIFORM') lowering.random('uniform', stream, outputs[0]);
      else lowering.random('bernoulli', [...stream, probabilityOf(lowering, p)], outputs[0]);
    },
  },
});
