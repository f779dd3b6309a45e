import { ConfigReader } from '../files/config/config-reader.ts';
import { type ModelFiles, readJson } from '../files/sources/model-files.ts';
import type { GenerateOptions } from './generate.ts';
import { samplingRules } from './sampling.ts';

const file = 'generation_config.json';

/**
 * The generation defaults of a model from its `generation_config.json`: how tokens are sampled, which tokens
 * end a text, and how many there are at most. Without the file, `config.json` says which tokens end a text.
 * Other fields, such as those of beam search, are ignored.
 * @throws ConfigError for an invalid field.
 */
export async function readGenerationConfig(
  files: ModelFiles,
  { eos_token_id }: Readonly<Record<string, unknown>>,
): Promise<Partial<GenerateOptions>> {
  const own = await readJson(files, file);
  const json = own ?? { eos_token_id };
  const config = new ConfigReader(json, '', own ? file : undefined);
  const given = [json.eos_token_id ?? []].flat() as number[];
  // Some files write −1 for no token.
  const stop = given.filter(token =>
    Number.isSafeInteger(token)
      ? token >= 0
      : config.fail('eos_token_id', 'must be a token or a list of tokens'),
  );
  return {
    // The defaults of transformers if a file asks for sampling.
    ...(config.flag('do_sample', false) && {
      temperature: config.checked('temperature', samplingRules.temperature, 1),
      // 0 means all tokens.
      topK: config.integer('top_k', 50, 0) || undefined,
      topP: config.checked('top_p', samplingRules.topP, 1),
      minP: config.checked('min_p', samplingRules.minP, 0),
    }),
    ...(config.has('repetition_penalty') && { repetitionPenalty: config.positive('repetition_penalty') }),
    ...(config.has('max_new_tokens') && { maxNewTokens: config.integer('max_new_tokens') }),
    ...(stop.length > 0 && { stopTokens: stop }),
  };
}
