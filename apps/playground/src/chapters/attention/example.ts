import { scoresOf, sentence, words } from '../../logic/streaming/sentence.ts';

/** The query of the chapter: the last word, which asks who was tired. */
const query = words.length - 1;

/**
 * Scores of one query and the value vectors of its keys, from the sentence of the previous chapter. The
 * maximum rises three times on the way, so that the reader sees rescaling.
 */
export const example = { x: scoresOf(query), v: sentence.v, words, query: words[query] ?? '' } as const;

/** Components of a value vector. */
export const channels: number = sentence.v[0]?.length ?? 0;
