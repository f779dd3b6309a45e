type Json = Readonly<Record<string, unknown>>;

/** What counts as punctuation: that of ASCII, with symbols such as `$`, and that of Unicode. */
const PUNCTUATION = '[!-\\/:-@\\[-`{-~\\p{P}]';

/** What the second part of a word begins with in a vocabulary that has no such parts. */
const NO_SUBWORDS = '\uffff';

/**
 * A `tokenizer.json` without the parts that `@huggingface/tokenizers` lacks or reads in another way: they are
 * replaced by equivalent ones.
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
 * The package treats a `WordLevel` as a tokenizer without unknown words. A `WordPiece` whose words have only
 * one part gives the same tokens.
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
 * A pre-tokenizer in which a `Split` replaces each `Digits` and `Punctuation`, because the package reads only
 * 0 to 9 as digits, and always keeps a run of punctuation together.
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
