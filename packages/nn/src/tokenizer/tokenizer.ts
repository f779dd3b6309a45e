import { describeValue, InvalidArgumentError } from '@tilewise/core';
import { checkArgument, checkFields, type FieldRules } from '../checks/check-fields.ts';
import { flag, integerFrom, text as textRule } from '../checks/rules.ts';
import { ConfigError } from '../files/config/config-error.ts';
import { CheckpointError } from '../files/sources/checkpoint-error.ts';
import { type ModelFiles, readJson, readText } from '../files/sources/model-files.ts';
import { type ChatMessage, chatTemplateOf } from './chat-template.ts';
import { withEquivalentParts } from './equivalent-parts.ts';
import { optionalPeer } from './peers/optional-peer.ts';

type Json = Readonly<Record<string, unknown>>;

/** How a text is encoded. */
export interface EncodeOptions {
  /** Whether the tokens that begin and end a text are added. Default: true. */
  readonly addSpecialTokens?: boolean | undefined;
}

const encodeRules: FieldRules<EncodeOptions> = { addSpecialTokens: flag };

/** Converts texts to a model's tokens and back. */
export interface TextTokenizer {
  /**
   * The tokens of a text.
   * @throws InvalidArgumentError unless `text` is a string; CheckpointError if the file of the tokenizer is
   * damaged where it says how to encode.
   */
  encode(text: string, options?: EncodeOptions): number[];
  /**
   * The text of tokens, without special tokens and tokens that the tokenizer does not know.
   * @throws InvalidArgumentError unless the tokens are integers; CheckpointError if the file of the
   * tokenizer is damaged where it says how to decode.
   */
  decode(tokens: ArrayLike<number>): string;
  /**
   * The tokens of a conversation in the model's chat template, up to the start of the assistant's answer.
   * @throws TilewiseError `UNSUPPORTED` for a model without a template, and for messages that the template
   * rejects.
   */
  chat(messages: readonly ChatMessage[]): number[];
  /** Decodes tokens that arrive one by one. */
  stream(): TextStream;
}

/** A stream that decodes tokens one by one. */
export interface TextStream {
  /** The text that a token adds; empty while the bytes of a character are incomplete. */
  push(token: number): string;
  /** The text of tokens that `push` holds back: U+FFFD for an incomplete character, else empty. */
  end(): string;
}

const file = 'tokenizer.json';

/** The character that a decoder writes for invalid or incomplete bytes. */
const INCOMPLETE = '\ufffd';

/**
 * Loads the tokenizer of a model: `tokenizer.json`, and if they exist, `tokenizer_config.json` and
 * `chat_template.jinja`. Needs the optional peer dependency `@huggingface/tokenizers`, and for a chat
 * template `@huggingface/jinja`.
 * @throws CheckpointError for a model whose `tokenizer.json` is missing or damaged, or has a part that is not
 * supported; ConfigError for a kind of tokenizer that is not supported, and for an invalid chat template;
 * TilewiseError `UNSUPPORTED` if one of the two packages is needed and missing.
 */
export async function loadTokenizer(files: ModelFiles): Promise<TextTokenizer> {
  const json = await readJson(files, file);
  if (json === null) throw new CheckpointError({ file: files.name }, `has no ${file}`);
  const config = (await readJson(files, 'tokenizer_config.json')) ?? {};
  const template = await chatTemplateOf(config, await readText(files, 'chat_template.jinja'));
  checkKind(json);
  const { Tokenizer } = await optionalPeer('@huggingface/tokenizers', import('./peers/tokenizers.ts'));
  const tokenizer = namingFile(() => new Tokenizer(withEquivalentParts(json), config));
  const encode = (text: string, options: EncodeOptions = {}): number[] => {
    checkFields('options', options, encodeRules);
    checkArgument('text', text, textRule);
    const add_special_tokens = options.addSpecialTokens ?? true;
    return namingFile(() => {
      const { ids } = tokenizer.encode(text, { add_special_tokens });
      if (!ids.every(integerFrom(0).holds)) throw new Error(`a text has the tokens ${describeValue(ids)}`);
      return ids;
    });
  };
  const decode = (given: ArrayLike<number>, clean_up_tokenization_spaces: boolean): string => {
    const tokens = Array.from(given);
    if (!tokens.every(Number.isSafeInteger))
      throw new InvalidArgumentError('tokens', `must be integers, got ${describeValue(given)}`);
    return tokens.length === 0
      ? ''
      : namingFile(() =>
          tokenizer.decode(tokens, { skip_special_tokens: true, clean_up_tokenization_spaces }),
        );
  };
  const cleans = cleansSpaces(json, config);
  return {
    encode,
    decode: tokens => decode(tokens, cleans),
    // The template writes the special tokens itself.
    chat: messages => encode(template(messages, true), { addSpecialTokens: false }),
    // A stream cannot take back a space that it has returned.
    stream: () => textStream(tokens => decode(tokens, false)),
  };
}

/** The kinds of tokenizers that are supported; old files do not name theirs. */
const kinds: readonly unknown[] = ['BPE', 'WordPiece', 'Unigram', 'WordLevel', undefined];

function checkKind({ model }: Json): void {
  const { type } = { ...(model as Json) };
  if (!kinds.includes(type))
    throw new ConfigError(
      'model.type',
      `must be 'BPE', 'WordPiece', 'Unigram' or 'WordLevel', got ${describeValue(type)}`,
      file,
    );
}

/**
 * Whether spaces before punctuation are removed from decoded texts. As in transformers 5, the option is false
 * by default, and ignored for BPE, whose texts have such spaces on purpose.
 */
function cleansSpaces(json: Json, { clean_up_tokenization_spaces: asked }: Json): boolean {
  const { type } = (json.model ?? {}) as Json;
  return asked === true && type !== 'BPE';
}

/**
 * Runs a function that reads parts of `tokenizer.json`, some of which are read only when a text needs them.
 * @throws CheckpointError, which names the file, if a part is damaged.
 */
function namingFile<R>(read: () => R): R {
  try {
    return read();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new CheckpointError({ file, cause }, `is damaged or not supported: ${reason}`);
  }
}

/**
 * Decodes the tokens of the current line together, because the text of a token depends on the tokens before
 * it. The last token of the line before is decoded with them: some decoders remove a space at the start of a
 * text, but a line may begin with one. The output stops before an incomplete character.
 */
function textStream(decode: (tokens: readonly number[]) => string): TextStream {
  let tokens: number[] = [];
  let written = '';
  return {
    push(token) {
      tokens.push(token);
      const text = decode(tokens);
      if (text.endsWith(INCOMPLETE)) return '';
      const added = text.slice(written.length);
      written = text;
      if (added.endsWith('\n')) {
        tokens = [token];
        written = decode(tokens);
      }
      return added;
    },
    end() {
      const rest = decode(tokens).slice(written.length);
      written += rest;
      return rest;
    },
  };
}
