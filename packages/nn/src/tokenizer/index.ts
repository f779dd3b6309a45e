export type { ChatMessage } from './chat-template.ts';
export { type EncodeOptions, loadTokenizer, type TextStream, type TextTokenizer } from './tokenizer.ts';
