import { InvalidGraphError } from '../../errors.ts';
import type { GradientCall, InputGradient } from '../../ir/schema/operation.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { attentionNames } from './names.ts';

/** What an operand's gradient is called; the other operands have none. */
const gradientOf: Readonly<Record<string, string>> = {
  ...{ q: 'dq', k: 'dk', v: 'dv', bias: 'dbias', sink: 'dsink', alibi: 'dAlibi' },
};

/** The gradients of Sdpa: one SdpaBackward that gives those that are needed. */
export function sdpaGradient(call: GradientCall): readonly (InputGradient | null)[] {
  const { builder, attributes, inputs, outputs, outputGradients, needed } = call;
  const { operands, results } = attentionNames(attributes);
  const strange = results.find((name, n) => outputGradients[n] && name !== 'o' && name !== 'lse');
  if (strange !== undefined) throw new InvalidGraphError(`Sdpa has no gradient by its '${strange}'`);
  const wanted = operands.flatMap((name, n) =>
    needed[n] && gradientOf[name] !== undefined ? [{ name: gradientOf[name], dtype: inputs[n].dtype }] : [],
  );
  const result = (name: string): number => results.indexOf(name);
  let made: readonly LogicalTensor[] | undefined;
  const backward = (): readonly LogicalTensor[] => {
    const recomputed = (): readonly LogicalTensor[] =>
      builder.ops(
        'Sdpa',
        inputs.map(t => builder.forward(t)),
        { ...attributes, results: 'o lse' },
        [inputs[operands.indexOf('q')].dtype, 'f32'],
      );
    const [o, lse] =
      result('o') >= 0 && result('lse') >= 0
        ? [outputs[result('o')], outputs[result('lse')]].map(t => builder.forward(t))
        : recomputed();
    const [dO, dLse] = ['o', 'lse'].map(name => outputGradients[result(name)]);
    const zero = (): LogicalTensor =>
      builder.op('Constant', [], { value: [0], shape: builder.shapeOf(outputs[0]) }, { dtype: o.dtype });
    const added = { o, lse, dO: dO ? builder.cast(dO, o.dtype) : zero(), ...(dLse && { dLse }) };
    return builder.ops(
      'SdpaBackward',
      [...inputs.map(t => builder.forward(t)), ...Object.values(added)],
      {
        ...attributes,
        operands: [...operands, ...Object.keys(added)].join(' '),
        results: wanted.map(({ name }) => name).join(' '),
      },
      wanted.map(({ dtype }) => dtype),
    );
  };
  return operands.map(name => {
    const at = wanted.findIndex(gradient => gradient.name === gradientOf[name]);
    if (at < 0) return null;
    return () => {
      made ??= backward();
      return made[at];
    };
  });
}
