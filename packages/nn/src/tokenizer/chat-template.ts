import type { Template } from '@huggingface/jinja';
import { TilewiseError } from '@tilewise/core';
import { ConfigError } from '../files/config/config-error.ts';
import { optionalPeer } from './peers/optional-peer.ts';

/** A message of a conversation. */
export interface ChatMessage {
  /** Who speaks: a name that the template of the model knows. */
  readonly role: 'system' | 'user' | 'assistant' | (string & {});
  /** The text of the message. */
  readonly content: string;
}

/** Formats a conversation in the way that a model was trained on. */
export type ChatTemplate = (messages: readonly ChatMessage[], addGenerationPrompt: boolean) => string;

const file = 'tokenizer_config.json';

/**
 * The chat template, from its own file or from `chat_template` in `tokenizer_config.json`: a string, or a
 * list of named templates, of which 'default' is used.
 * @throws ConfigError for an invalid template; TilewiseError `UNSUPPORTED` for a template if the package that
 * reads templates is missing. The function throws TilewiseError `UNSUPPORTED` without a template, and for
 * messages that the template rejects.
 */
export async function chatTemplateOf(
  config: Readonly<Record<string, unknown>>,
  ownFile: string | null,
): Promise<ChatTemplate> {
  const text = ownFile ?? templateText(config.chat_template);
  if (text === null) {
    return () => {
      throw new TilewiseError('UNSUPPORTED', 'the tokenizer has no chat_template: encode your own prompt');
    };
  }
  const template = await parsed(text);
  // A template may use any special token, such as sep_token, and may ask whether one is defined.
  const tokens = Object.fromEntries(
    Object.entries(config)
      .filter(([name]) => name.endsWith('_token'))
      .flatMap(([name, token]) => tokenText(token).map(text => [name, text])),
  );
  // As in transformers: a template may compare them with none without asking whether they are defined.
  const absent = { tools: null, documents: null };
  return (messages, addGenerationPrompt) => {
    try {
      return template.render({ ...tokens, ...absent, messages, add_generation_prompt: addGenerationPrompt });
    } catch (error) {
      const reason = error instanceof Error ? error.message : String(error);
      throw new TilewiseError('UNSUPPORTED', `the template rejects the messages: ${reason}`);
    }
  };
}

async function parsed(text: string): Promise<Template> {
  const { Template } = await optionalPeer('@huggingface/jinja', import('./peers/jinja.ts'));
  try {
    return new Template(text);
  } catch (error) {
    const reason = error instanceof Error ? error.message : String(error);
    throw new ConfigError('chat_template', `is not a valid Jinja template: ${reason}`, file);
  }
}

function templateText(given: unknown): string | null {
  if (given === undefined || given === null) return null;
  if (typeof given === 'string') return given;
  const named = Array.isArray(given) ? given.find(entry => entry?.name === 'default') : undefined;
  if (typeof named?.template === 'string') return named.template;
  throw new ConfigError('chat_template', "must be a string or a list with one named 'default'", file);
}

/** The text of a special token, which is a string or an object with the string; empty for other options. */
function tokenText(token: unknown): readonly string[] {
  const text = typeof token === 'object' && token !== null && 'content' in token ? token.content : token;
  return typeof text === 'string' ? [text] : [];
}
