import type { Variable } from '@tilewise/graph/ops';
import type { ModelDefinition, TextInputs, TraceLogits } from '../architectures/architecture.ts';
import { decoderLogits, decoderStates } from '../architectures/transformer/decoder.ts';

/** The logits of a model, as a function to trace. */
export function logitsOf(definition: ModelDefinition): TraceLogits {
  return (scope, inputs) => {
    if (definition.kind === 'exported') return definition.logits(scope, inputs);
    // `batchTensors` has checked that a batch has the inputs of the model.
    if (definition.kind === 'image') return definition.logits(scope, inputs.pixels as Variable);
    const texts = inputs as TextInputs;
    if (definition.kind === 'masked') return definition.logits(scope, texts);
    const { decoder } = definition;
    const { tokens, lengths } = texts;
    return decoderLogits(scope, decoder, decoderStates(scope, decoder, { tokens, lengths }));
  };
}
