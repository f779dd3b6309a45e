import { InvalidArgumentError, type TensorDesc, TilewiseError } from '@tilewise/core';
import { toU64 } from '@tilewise/philox';
import { checkFields, type FieldRules } from '../checks/check-fields.ts';
import { integerFrom, integers, required, signalRule } from '../checks/rules.ts';
import { checkIndex } from '../model/batch.ts';
import { checkModel, type Model } from '../model/model.ts';
import { cachedDecoder } from './cached-decoder.ts';
import { type SamplingOptions, samplingRules, tokenOf } from './sampling.ts';

/** How text is generated. */
export interface GenerateOptions extends SamplingOptions {
  /** The maximum number of tokens to generate for each prompt. */
  readonly maxNewTokens: number;
  /** Tokens that end a text; they are yielded, too. */
  readonly stopTokens?: readonly number[] | undefined;
  /** Stops the generation, which then throws the signal's reason. */
  readonly signal?: AbortSignal | undefined;
}

const generateRules: FieldRules<GenerateOptions> = {
  ...samplingRules,
  maxNewTokens: required(integerFrom(0)),
  stopTokens: integers,
  signal: signalRule,
};

/**
 * Continues several prompts at once, and yields a list for each step: the next token of each text, or null
 * for a text that has ended. The tokens of a text do not depend on the other texts of the batch.
 * @throws InvalidArgumentError for invalid prompts or options, and if the model computes NaN or Infinity;
 * TilewiseError `UNSUPPORTED` for a model that is not a decoder; the signal's reason.
 */
export async function* generateBatch<T extends TensorDesc>(
  model: Model<T>,
  prompts: readonly ArrayLike<number>[],
  options: GenerateOptions,
): AsyncGenerator<readonly (number | null)[], void, undefined> {
  checkModel(model);
  const { definition } = model;
  if (definition.kind !== 'causal')
    throw new TilewiseError('UNSUPPORTED', 'the model cannot continue texts: it is not a decoder');
  checkFields('options', options, generateRules);
  const { maxNewTokens, stopTokens = [], signal, seed = 0 } = options;
  toU64(seed, 'seed');
  const { vocabulary } = definition.decoder;
  const texts = Array.isArray(prompts) ? prompts.map(prompt => Array.from<number>(prompt ?? [])) : [];
  if (texts.length === 0 || texts.some(text => text.length === 0))
    throw new InvalidArgumentError('prompts', 'must be non-empty lists of tokens');
  if (prompts.some(prompt => typeof prompt === 'string'))
    throw new InvalidArgumentError('prompts', 'must be lists of tokens: encode texts with a tokenizer');
  for (const token of texts.flat()) checkIndex('tokens', token, vocabulary, '');
  if (maxNewTokens === 0) return;
  // The model does not read the last token.
  const length = Math.max(...texts.map(text => text.length)) + maxNewTokens - 1;
  const most = definition.decoder.positions?.count;
  if (most !== undefined && length > most)
    throw new InvalidArgumentError('maxNewTokens', `needs ${length} positions, but the model has ${most}`);
  const decoder = cachedDecoder(model, definition, { batch: texts.length, length });
  try {
    let logits = await decoder.read(texts, signal);
    const ended = texts.map(() => false);
    for (let step = 0; step < maxNewTokens; step++) {
      signal?.throwIfAborted();
      const tokens = texts.map((text, row) => {
        if (ended[row]) return null;
        const token = tokenOf(logits[row], text, options, { row, step });
        text.push(token);
        ended[row] = stopTokens.includes(token);
        return token;
      });
      yield tokens;
      if (ended.every(Boolean) || step + 1 === maxNewTokens) return;
      logits = await decoder.read(
        tokens.map((token, row) => (token === null || ended[row] ? [] : [token])),
        signal,
      );
    }
  } finally {
    decoder.release();
  }
}

/**
 * Like `generateBatch`, but for one prompt: yields each token as soon as it is chosen.
 * @throws as `generateBatch`.
 */
export async function* generate<T extends TensorDesc>(
  model: Model<T>,
  prompt: ArrayLike<number>,
  options: GenerateOptions,
): AsyncGenerator<number, void, undefined> {
  for await (const [token] of generateBatch(model, [prompt], options)) if (token !== null) yield token;
}
