type Json = Readonly<Record<string, unknown>>;

/** A character class: the punctuation of ASCII, which includes symbols such as `$`, and of Unicode. */
const PUNCTUATION = '[!-\\/:-@\\[-`{-~\\p{P}]';

/** A prefix of continuing subwords that vocabularies do not use, because U+FFFF is a noncharacter. */
const NO_SUBWORDS = '\uffff';

/**
 * Replaces the parts of a `tokenizer.json` that `@huggingface/tokenizers` lacks, or reads differently from
 * the tokenizers library, by equivalent parts.
 */
export function withEquivalentParts(json: Json): Json {
  const { model, pre_tokenizer } = json;
  return {
    ...json,
    model: withoutWordLevel({ ...(model as Json) }),
    pre_tokenizer: withSplits(pre_tokenizer),
  };
}

/**
 * Replaces a `WordLevel`, which the package reads as a model without unknown words, by a `WordPiece` whose
 * words are never split, which gives the same tokens.
 */
function withoutWordLevel(model: Json): Json {
  if (model.type !== 'WordLevel') return model;
  const lengths = Object.keys({ ...(model.vocab as Json) }).map(word => word.length);
  const longest = lengths.reduce((a, b) => Math.max(a, b), 0);
  return {
    ...{ ...model, type: 'WordPiece' },
    ...{ continuing_subword_prefix: NO_SUBWORDS, max_input_chars_per_word: longest },
  };
}

/**
 * Replaces each `Digits` and `Punctuation` of a pre-tokenizer by a `Split`, because the package reads only 0
 * to 9 as digits, and always keeps a run of punctuation together.
 */
function withSplits(preTokenizer: unknown): unknown {
  return JSON.parse(JSON.stringify(preTokenizer ?? null), (_, part) => {
    const pattern = splitPattern({ ...part });
    return pattern === null
      ? part
      : { type: 'Split', pattern: { Regex: pattern }, behavior: 'Isolated', invert: false };
  });
}

/** The pattern of the `Split` that replaces a part of a pre-tokenizer; null for a part that stays. */
function splitPattern(part: {
  readonly type?: unknown;
  readonly individual_digits?: unknown;
  readonly behavior?: unknown;
}): string | null {
  const { type, individual_digits, behavior = 'Isolated' } = part;
  if (type === 'Digits') return individual_digits === true ? '\\p{N}' : '\\p{N}+';
  return type === 'Punctuation' && behavior === 'Isolated' ? PUNCTUATION : null;
}
