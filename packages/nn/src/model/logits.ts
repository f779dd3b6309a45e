import type { Variable } from '@tilewise/graph/ops';
import type { ModelDefinition } from '../architectures/architecture.ts';
import { decoderLogits, decoderStates } from '../transformer/decoder.ts';
import type { Scope } from '../transformer/scope.ts';

/** What a model is called with: tokens (B, S) of texts, or pixels (B, channels, size, size). */
export interface ModelInputs {
  readonly tokens?: Variable | undefined;
  /** i32 (B) */
  readonly lengths?: Variable | undefined;
  /** i32 (B, S) */
  readonly tokenTypes?: Variable | undefined;
  readonly pixels?: Variable | undefined;
}

/** Logits of all tokens (B, S, vocabulary), or of the classes of images (B, classes). */
export function modelLogits(
  definition: ModelDefinition,
  scope: Scope,
  { tokens, lengths, tokenTypes, pixels }: ModelInputs,
): Variable {
  if (definition.kind === 'image') return definition.logits(scope, given(pixels, 'pixels'));
  const texts = { tokens: given(tokens, 'tokens'), lengths };
  if (definition.kind === 'masked') return definition.logits(scope, { ...texts, tokenTypes });
  return decoderLogits(scope, definition.decoder, decoderStates(scope, definition.decoder, texts));
}

function given(variable: Variable | undefined, name: string): Variable {
  if (variable) return variable;
  throw new TypeError(`the model takes ${name}`);
}
