import type { Family } from '../family.ts';
import { jax, triton, xla } from './compilers.ts';
import { flashAttention2Masks, onednnMasks, torchEfficientMasks } from './dropout-masks.ts';
import { flashAttention2Thresholds, torchThresholds } from './dropout-thresholds.ts';
import { nativeDropout, transformerEngineDropout } from './element-dropout.ts';
import { engineStreams } from './engine-streams.ts';
import { knownAnswers } from './known-answers.ts';
import { numpyAdvanced, numpyJumped, numpyKeyCounter, numpySeeded } from './numpy.ts';
import { onednnLegacyWords, onednnSequences, onednnWords } from './onednn-words.ts';

/**
 * Every family of vectors. The first family that matches a record checks it, so families with more fields
 * come first.
 */
export const families: readonly Family[] = [
  knownAnswers,
  engineStreams,
  onednnMasks,
  flashAttention2Masks,
  torchEfficientMasks,
  torchThresholds,
  flashAttention2Thresholds,
  nativeDropout,
  transformerEngineDropout,
  onednnSequences,
  onednnWords,
  onednnLegacyWords,
  numpyKeyCounter,
  numpySeeded,
  numpyAdvanced,
  numpyJumped,
  xla,
  triton,
  jax,
];
