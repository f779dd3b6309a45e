import { InvalidArgumentError, Tensor } from '@tilewise/core';
import type { GraphDType } from '@tilewise/graph';
import type { OnnxModel } from '@tilewise/graph/onnx';
import { constant, less, reshape, typeCast, type Variable } from '@tilewise/graph/ops';
import type { ModelInputs } from '../../architectures/architecture.ts';

/** The inputs of exported models by their usual names, and how they are made. */
const makers: Readonly<Record<string, (inputs: ModelInputs) => Variable | undefined>> = {
  input_ids: ({ tokens }) => tokens,
  attention_mask: ({ tokens, lengths }) => tokens && attentionMask(tokens, lengths),
  token_type_ids: ({ tokens, tokenTypes }) => tokenTypes ?? (tokens && filled(tokens.shape, () => 0)),
  position_ids: ({ tokens }) => tokens && filled(tokens.shape, n => n % (tokens.shape[1] ?? 1)),
  pixel_values: ({ pixels }) => pixels,
};

/**
 * The inputs of an exported model by name.
 * @throws InvalidArgumentError for an input that no batch has.
 */
export function onnxInputs(model: OnnxModel, inputs: ModelInputs): Record<string, Variable> {
  return Object.fromEntries(
    model.inputs.map(({ name, dtype }) => {
      const make = Object.hasOwn(makers, name) ? makers[name] : undefined;
      if (!make)
        throw new InvalidArgumentError(
          'bytes',
          `have the input '${name}', which no batch gives: export the model with ${Object.keys(makers).join(', ')}`,
        );
      const made = make(inputs);
      if (!made) throw new InvalidArgumentError('inputs', `must have what '${name}' of the model is made of`);
      return [name, dtype ? asDType(made, dtype) : made];
    }),
  );
}

function asDType(x: Variable, dtype: GraphDType): Variable {
  return x.dtype === dtype ? x : typeCast(x, { dtype });
}

function filled(shape: readonly number[], value: (n: number) => number): Variable {
  const count = shape.reduce((n, extent) => n * extent, 1);
  const values = Array.from({ length: count }, (_, n) => value(n));
  return constant(Tensor.from(values, shape, { dtype: 'i32' }));
}

/** (B, S): 1 for the tokens before the padding. */
function attentionMask({ shape: [B = 1, S = 1] }: Variable, lengths: Variable | undefined): Variable {
  if (!lengths) return filled([B, S], () => 1);
  const places = filled([B, S], n => n % S);
  return typeCast(less(places, reshape(lengths, [B, 1])), { dtype: 'i32' });
}
