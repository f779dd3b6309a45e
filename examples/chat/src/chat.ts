import type { TensorDesc } from '@tilewise/core';
import { type LoadOptions, loadModel, type ModelFiles, type SamplingOptions } from '@tilewise/nn';
import { type ChatMessage, loadTokenizer } from '@tilewise/nn/tokenizer';

/** The options for generating answers. */
export interface ChatOptions extends SamplingOptions {
  /** The system message, which the model gets before the conversation. */
  readonly system?: string | undefined;
  /** The maximum number of tokens of an answer. Default 512. */
  readonly maxNewTokens?: number | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** A conversation with a model. */
export interface Chat {
  readonly messages: readonly ChatMessage[];
  /**
   * Sends a message, and yields the answer in parts as they are generated. A message whose answer fails or is
   * stopped does not become part of the conversation.
   */
  say(text: string): AsyncGenerator<string, void, undefined>;
  /** Continues a text without a chat template, in parts as they are generated. */
  complete(text: string): AsyncGenerator<string, void, undefined>;
  release(): void;
}

/** Opens a model for a conversation, from a folder with config.json, weights and tokenizer.json. */
export async function openChat<T extends TensorDesc>(
  files: ModelFiles,
  load: LoadOptions<T>,
  { system, maxNewTokens = 512, ...options }: ChatOptions = {},
): Promise<Chat> {
  const tokenizer = await loadTokenizer(files);
  const model = await loadModel(files, load);
  const messages: ChatMessage[] = system === undefined ? [] : [{ role: 'system', content: system }];

  async function* answer(prompt: readonly number[]): AsyncGenerator<string, void, undefined> {
    const stream = tokenizer.stream();
    const given = Object.fromEntries(Object.entries(options).filter(([, value]) => value !== undefined));
    for await (const token of model.generate(prompt, { maxNewTokens, ...given })) {
      const part = stream.push(token);
      if (part !== '') yield part;
    }
    const rest = stream.end();
    if (rest !== '') yield rest;
  }

  return {
    messages,
    async *say(text) {
      const question = { role: 'user', content: text };
      let content = '';
      for await (const part of answer(tokenizer.chat([...messages, question]))) {
        content += part;
        yield part;
      }
      messages.push(question, { role: 'assistant', content });
    },
    complete: text => answer(tokenizer.encode(text)),
    release: () => model.release(),
  };
}
