import { elementCount, InvalidArgumentError } from '@tilewise/core';
import type { OnnxModel } from '@tilewise/graph/onnx';
import { constant, less, reshape, type Variable } from '@tilewise/graph/ops';
import type { ModelInputs } from '../../architectures/architecture.ts';
import { inDType, integers } from '../../architectures/transformer/scope.ts';

/** The inputs of exported models by their usual names, and how they are derived from a batch. */
const makers: Readonly<Record<string, (inputs: ModelInputs) => Variable | undefined>> = {
  input_ids: ({ tokens }) => tokens,
  attention_mask: ({ tokens, lengths }) => tokens && attentionMask(tokens, lengths),
  token_type_ids: ({ tokens, tokenTypes }) => tokenTypes ?? (tokens && filled(tokens.shape, () => 0)),
  position_ids: ({ tokens }) => tokens && filled(tokens.shape, n => n % (tokens.shape[1] ?? 1)),
  pixel_values: ({ pixels }) => pixels,
};

/**
 * The inputs of an exported model by name.
 * @throws InvalidArgumentError for an input that cannot be derived from a batch.
 */
export function onnxInputs(model: OnnxModel, inputs: ModelInputs): Record<string, Variable> {
  return Object.fromEntries(
    model.inputs.map(({ name, dtype }) => {
      const make = Object.hasOwn(makers, name) ? makers[name] : undefined;
      if (!make)
        throw new InvalidArgumentError(
          'bytes',
          `have the input '${name}', which cannot be derived from a batch: export the model with only ${Object.keys(makers).join(', ')}`,
        );
      const made = make(inputs);
      if (!made)
        throw new InvalidArgumentError('inputs', `must have the data for the model's input '${name}'`);
      return [name, dtype ? inDType(made, dtype) : made];
    }),
  );
}

function filled(shape: readonly number[], value: (n: number) => number): Variable {
  const values = Array.from({ length: elementCount(shape) }, (_, n) => value(n));
  return constant(integers(values, shape));
}

/** (B, S): 1 for the tokens before the padding. */
function attentionMask({ shape: [B = 1, S = 1] }: Variable, lengths: Variable | undefined): Variable {
  if (!lengths) return filled([B, S], () => 1);
  const places = filled([B, S], n => n % S);
  return inDType(less(places, reshape(lengths, [B, 1])), 'i32');
}
