import { Tensor } from '@tilewise/core';
import { constant, div, ge, or, select, sub } from '@tilewise/core/expr';
import { input } from '@tilewise/core/primitive';
import type { Lowering, Value } from '../ir/program/lowering.ts';
import { numberOf } from '../ir/schema/attribute.ts';
import type { Operation } from '../ir/schema/operation.ts';
import type { LogicalTensor } from '../ir/tensor/logical-tensor.ts';
import { floats, optionalPort, port } from './ports.ts';

const probability = { type: 'f32' } as const;

function wrongProbability(p: unknown): string | null {
  return p === undefined || (typeof p === 'number' && p >= 0 && p < 1)
    ? null
    : `attribute 'p' must be in [0, 1), got ${p}`;
}

function notScalar(tensors: readonly LogicalTensor[]): string | null {
  const wrong = tensors.find(({ shape }) => shape && shape.length > 0 && `${shape}` !== '1');
  return wrong ? `tensor ${wrong.id} must be a scalar, of shape [] or [1], got [${wrong.shape}]` : null;
}

/** A scalar of two words as the primitive takes it. */
function words(lowering: Lowering, value: Value): Value {
  return lowering.view(value, [2], [1]);
}

function probabilityOf(lowering: Lowering): Value {
  const { inputs, call } = lowering;
  const p = inputs[3] ?? lowering.constant(Tensor.from([numberOf(call.attributes, 'p')], []));
  return lowering.view(p, [], []);
}

export const dropout: Operation = {
  kind: 'Dropout',
  summary:
    'src / (1 − p) with probability 1 − p, else 0, as Philox decides from the element’s index; p is the fourth input or the attribute.',
  inputs: [
    port('src', 'T'),
    port('seed', 'T1', ['i64']),
    port('offset', 'T2', ['i64']),
    optionalPort('probability', 'T3', ['f32']),
  ],
  outputs: [port('dst', 'T'), optionalPort('mask', 'T4', ['u8'])],
  attributes: { p: probability },
  constraint: ({ attributes, inputs }) => {
    if ((inputs.length === 4) === (attributes.p !== undefined)) {
      return "needs its probability once: as the input 'probability' or as the attribute 'p'";
    }
    return wrongProbability(attributes.p) ?? notScalar(inputs.slice(1));
  },
  gradient: ({ builder, attributes, inputs: [, ...numbers], outputGradients: [dy] }) =>
    dy ? [() => builder.op('Dropout', [dy, ...numbers.map(t => builder.forward(t))], attributes)] : [],
  infer: ({ inputs: [{ shape }], outputs }) => outputs.map(() => shape),
  lower: lowering => {
    const [src, seed, offset] = lowering.inputs;
    const [dst, mask] = lowering.outputs;
    const p = probabilityOf(lowering);
    const keep = lowering.temporary(src.desc.shape, 'bool');
    lowering.random('bernoulli', [words(lowering, seed), words(lowering, offset), p], keep);
    const scaled = div(input(0), sub(1, input(2)));
    lowering.map(select(input(1, 'bool'), select(ge(input(2), 1), 0, scaled), 0), [src, keep, p], dst);
    if (mask) lowering.map(select(or(input(0, 'bool')), constant(1), constant(0)), [keep], mask);
  },
};

export const rng: Operation = {
  kind: 'RNG',
  summary:
    'Random numbers in the shape of src: BERNOULLI 1 with probability 1 − p, else 0; UNIFORM in [0, 1). Not an operation of oneDNN.',
  inputs: [port('src', 'T'), port('seed', 'T1', ['i64']), port('offset', 'T2', ['i64'])],
  outputs: [port('dst', 'T3', [...floats, 'u8'])],
  attributes: {
    distribution_mode: { type: 'string', default: 'BERNOULLI', among: ['BERNOULLI', 'UNIFORM'] },
    p: { ...probability, default: 0.5 },
  },
  constraint: ({ attributes, inputs }) => wrongProbability(attributes.p) ?? notScalar(inputs.slice(1)),
  gradient: 'zero',
  infer: ({ inputs: [{ shape }] }) => [shape],
  lower: lowering => {
    const { call, inputs, outputs } = lowering;
    const stream = [words(lowering, inputs[1]), words(lowering, inputs[2])];
    if (call.attributes.distribution_mode === 'UNIFORM') lowering.random('uniform', stream, outputs[0]);
    else lowering.random('bernoulli', [...stream, probabilityOf(lowering)], outputs[0]);
  },
};
