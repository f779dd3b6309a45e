type Json = Readonly<Record<string, unknown>>;

/** A character class: the punctuation of ASCII, which includes symbols such as `$`, and of Unicode. */
const PUNCTUATION = '[!-\\/:-@\\[-`{-~\\p{P}]';

/** The characters of words in the tokenizers library; the package knows only those of ASCII. */
const WORD = '\\p{Alphabetic}\\p{M}\\p{Nd}\\p{Pc}\\p{Join_Control}';

/** A prefix of continuing subwords that vocabularies do not use, because U+FFFF is a noncharacter. */
const NO_SUBWORDS = '\uffff';

/**
 * Replaces the parts of a `tokenizer.json` that `@huggingface/tokenizers` lacks, or reads differently from
 * the tokenizers library, by equivalent parts.
 * @throws Error for an added token that the package would find inside of words, too.
 */
export function withEquivalentParts(json: Json): Json {
  const { model, pre_tokenizer, added_tokens } = json;
  checkAddedTokens(added_tokens);
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

function checkAddedTokens(tokens: unknown): void {
  if (!Array.isArray(tokens)) return;
  const whole = tokens.find(token => token?.single_word);
  if (whole) throw new Error(`the added token '${whole.content}' has single_word`);
}

/**
 * Replaces the parts of a pre-tokenizer that split a text by a pattern, because the package reads only 0 to 9
 * as digits and only ASCII in words, always keeps a run of punctuation together, and ignores most behaviours.
 */
function withSplits(preTokenizer: unknown): unknown {
  return JSON.parse(JSON.stringify(preTokenizer ?? null), (_, part) => equivalentSplit({ ...part }) ?? part);
}

/** A part of a pre-tokenizer that splits a text by a pattern. */
interface Splitting {
  readonly type?: unknown;
  readonly individual_digits?: unknown;
  readonly pattern?: { readonly String?: string; readonly Regex?: string } | undefined;
  readonly behavior?: unknown;
  readonly invert?: unknown;
}

/** The `Split` that replaces a part of a pre-tokenizer; null for a part that stays. */
function equivalentSplit({ type, individual_digits, pattern, behavior, invert }: Splitting): Json | null {
  if (type === 'Digits') return splitAt(individual_digits === true ? '\\p{N}' : '\\p{N}+');
  if (type === 'Whitespace') return splitInto(`[${WORD}]+|[^\\s${WORD}]+`);
  if (type === 'Punctuation') return behaviours(PUNCTUATION, behavior ?? 'Isolated');
  if (type !== 'Split') return null;
  const mark = pattern?.Regex ?? pattern?.String?.replace(/[\\^$.*+?()[\]{}|]/g, '\\$&');
  if (!mark || behavior === 'Removed' || (behavior === 'Isolated' && !invert)) return null;
  // Text is merged with the marks around it in the same way as marks with the text around them.
  const mirrored = { MergedWithPrevious: 'MergedWithNext', MergedWithNext: 'MergedWithPrevious' };
  const name = behavior as keyof typeof mirrored;
  return behaviours(mark, (invert && mirrored[name]) || behavior);
}

/** A `Split` that treats marks of a pattern as a behaviour of the tokenizers library does. */
function behaviours(mark: string, behavior: unknown): Json | null {
  const text = `(?:(?!${mark})[\\s\\S])+`;
  if (behavior === 'Isolated') return splitAt(mark);
  if (behavior === 'Removed') return splitInto(text);
  if (behavior === 'Contiguous') return splitInto(`(?:${mark})+|${text}`);
  if (behavior === 'MergedWithPrevious') return splitInto(`[\\s\\S]*?(?:${mark})|[\\s\\S]+`);
  return behavior === 'MergedWithNext' ? splitInto(`(?:${mark})(?:${text})?|${text}`) : null;
}

/** A `Split` whose pieces are what a pattern matches and the text in between. */
const splitAt = (pattern: string): Json => ({
  ...{ type: 'Split', pattern: { Regex: pattern }, behavior: 'Isolated', invert: false },
});

/** A `Split` whose pieces are what a pattern matches. */
const splitInto = (pattern: string): Json => ({ ...splitAt(pattern), behavior: 'Removed', invert: true });
