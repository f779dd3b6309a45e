import type { Variable } from '@tilewise/graph/ops';
import type { ModelDefinition, ModelInputs } from '../architectures/architecture.ts';
import { decoderLogits, decoderStates } from '../architectures/transformer/decoder.ts';
import type { Scope } from '../architectures/transformer/scope.ts';

/** Logits of all tokens (B, S, vocabulary), or of the classes of images (B, classes). */
export function modelLogits(definition: ModelDefinition, scope: Scope, inputs: ModelInputs): Variable {
  if (definition.kind === 'exported') return definition.logits(scope, inputs);
  const { tokens, lengths, tokenTypes, pixels } = inputs;
  if (definition.kind === 'image') return definition.logits(scope, given(pixels, 'pixels'));
  const texts = { tokens: given(tokens, 'tokens'), lengths };
  if (definition.kind === 'masked') return definition.logits(scope, { ...texts, tokenTypes });
  return decoderLogits(scope, definition.decoder, decoderStates(scope, definition.decoder, texts));
}

function given(variable: Variable | undefined, name: string): Variable {
  if (variable) return variable;
  throw new TypeError(`the model needs ${name}`);
}
