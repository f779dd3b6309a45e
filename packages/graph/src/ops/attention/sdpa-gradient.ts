import { InvalidGraphError } from '../../errors.ts';
import type { Attributes } from '../../ir/schema/attribute.ts';
import type { GradientCall, InputGradient } from '../../ir/schema/operation.ts';
import type { LogicalTensor } from '../../ir/tensor/logical-tensor.ts';
import { attentionNames } from './names.ts';

/** The name of each operand's gradient; operands that are not listed have no gradient. */
export const gradientOf: Readonly<Record<string, string>> = {
  ...{ q: 'dq', k: 'dk', v: 'dv', bias: 'dbias', sink: 'dsink', alibi: 'dAlibi' },
};

/** The gradients of Sdpa: one SdpaBackward operation computes all needed gradients. */
export function sdpaGradient(call: GradientCall): readonly (InputGradient | null)[] {
  const { builder, attributes, inputs, outputs, outputGradients, needed } = call;
  const { operands, results } = attentionNames(attributes);
  const without = results.find((name, n) => outputGradients[n] && name !== 'o' && name !== 'lse');
  if (without !== undefined) throw new InvalidGraphError(`the result '${without}' of Sdpa has no gradient`);
  const wanted = operands.flatMap((name, n) =>
    needed[n] && gradientOf[name] !== undefined ? [{ name: gradientOf[name], dtype: inputs[n].dtype }] : [],
  );
  const forward = () => inputs.map(t => builder.forward(t));
  /**
   * o and lse. If only o is given, one operation recomputes both; otherwise other gradients share what is
   * recomputed.
   */
  const rowsAndOutput = (): readonly LogicalTensor[] => {
    const [o, lse] = ['o', 'lse'].map(name => outputs[results.indexOf(name)]);
    if (o && lse && (builder.isGiven(lse) || !builder.isGiven(o)))
      return [o, lse].map(t => builder.forward(t));
    const dtype = inputs[operands.indexOf('q')].dtype;
    return builder.ops('Sdpa', forward(), { ...attributes, results: 'o lse' }, [o?.dtype ?? dtype, 'f32']);
  };
  let made: readonly LogicalTensor[] | undefined;
  const backward = (): readonly LogicalTensor[] => {
    const [o, lse] = rowsAndOutput();
    const [dO, dLse] = ['o', 'lse'].map(name => outputGradients[results.indexOf(name)]);
    const zero = (): LogicalTensor => builder.constant(0, o.dtype, builder.shapeOf(outputs[0]));
    const added = { o, lse, dO: dO ? builder.cast(dO, o.dtype) : zero(), ...(dLse && { dLse }) };
    const names: Attributes = {
      ...attributes,
      operands: [...operands, ...Object.keys(added)].join(' '),
      results: wanted.map(({ name }) => name).join(' '),
    };
    const dtypes = wanted.map(({ dtype }) => dtype);
    return builder.ops('SdpaBackward', [...forward(), ...Object.values(added)], names, dtypes);
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
