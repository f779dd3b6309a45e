export type { ChatMessage } from './chat-template.ts';
export type { EncodeOptions, TextStream, TextTokenizer } from './tokenizer.ts';
export { loadTokenizer } from './tokenizer.ts';
