import { Tokenizer } from '@huggingface/tokenizers';
import { CheckpointError } from '../files/checkpoint/checkpoint-error.ts';
import { type ModelFiles, readJson, readText } from '../files/checkpoint/model-files.ts';
import { type ChatMessage, chatTemplateOf } from './chat-template.ts';

/** How a text is encoded. */
export interface EncodeOptions {
  /** Whether the tokens are added that the tokenizer begins or ends a text with. Default: true. */
  readonly addSpecialTokens?: boolean | undefined;
}

/** Texts as tokens of a model. */
export interface TextTokenizer {
  encode(text: string, options?: EncodeOptions): number[];
  /** The text of tokens, without special tokens. */
  decode(tokens: readonly number[]): string;
  /**
   * The tokens of a conversation, by the chat template of the model, up to where the assistant answers.
   * @throws UnsupportedError for a model without a template, and messages that the template refuses.
   */
  chat(messages: readonly ChatMessage[]): number[];
  /** Tokens that come one by one, as text. */
  stream(): TextStream;
}

/** The text of tokens as they come. */
export interface TextStream {
  /** The text that a token adds; empty while the bytes of a character are not complete. */
  push(token: number): string;
}

/** The character that a decoder writes for bytes that are no character (yet). */
const INCOMPLETE = '\ufffd';

/**
 * Loads the tokenizer of a model: `tokenizer.json`, and where there are such `tokenizer_config.json` and
 * `chat_template.jinja`. The package takes `@huggingface/tokenizers` and `@huggingface/jinja` as peers.
 * @throws CheckpointError for a model without `tokenizer.json`, or with one that is damaged; ConfigError for
 * a chat template that is none.
 */
export async function loadTokenizer(files: ModelFiles): Promise<TextTokenizer> {
  const json = await readJson(files, 'tokenizer.json');
  if (json === null) throw new CheckpointError({ file: files.name }, 'has no tokenizer.json');
  const config = (await readJson(files, 'tokenizer_config.json')) ?? {};
  const template = chatTemplateOf(config, await readText(files, 'chat_template.jinja'));
  const tokenizer = open(json, config);
  const encode = (text: string, { addSpecialTokens = true }: EncodeOptions = {}): number[] =>
    tokenizer.encode(text, { add_special_tokens: addSpecialTokens }).ids;
  const decode = (tokens: readonly number[]): string =>
    tokens.length === 0 ? '' : tokenizer.decode([...tokens], { skip_special_tokens: true });
  return {
    encode,
    decode,
    // The template writes the special tokens itself.
    chat: messages => encode(template(messages, true), { addSpecialTokens: false }),
    stream: () => textStream(decode),
  };
}

function open(json: object, config: object): Tokenizer {
  try {
    return new Tokenizer(json, config);
  } catch (cause) {
    throw new CheckpointError({ file: 'tokenizer.json', cause }, 'is no tokenizer that can be read');
  }
}

/**
 * Decodes the tokens of the line at hand, as the text of a token depends on the tokens before it. What is
 * written ends before bytes that are no character yet.
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
      if (text.endsWith('\n')) {
        tokens = [];
        written = '';
      }
      return added;
    },
  };
}
