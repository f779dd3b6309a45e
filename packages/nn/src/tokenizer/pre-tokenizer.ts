/** What counts as punctuation: that of ASCII, with symbols such as `$`, and that of Unicode. */
const PUNCTUATION = '[!-\\/:-@\\[-`{-~\\p{P}]';

/**
 * A pre-tokenizer in which each `Digits` and `Punctuation` is replaced by an equivalent `Split`, because
 * `@huggingface/tokenizers` reads only 0 to 9 as digits, and always keeps a run of punctuation together.
 */
export function withSplits(preTokenizer: unknown): unknown {
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
