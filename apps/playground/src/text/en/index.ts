import { attention } from './attention.ts';
import { bench } from './bench.ts';
import { dropout } from './dropout.ts';
import { engine } from './engine.ts';
import { firstEn } from './first.ts';
import { graph } from './graph.ts';
import { lab } from './lab.ts';
import { loops } from './loops.ts';
import { machine } from './machine.ts';
import { overview } from './overview.ts';
import { player } from './player.ts';
import { quizzes } from './quizzes.ts';
import { references } from './references.ts';
import { softmax } from './softmax.ts';
import { tiles } from './tiles.ts';
import { train } from './train.ts';

/**
 * The page in English. `code`, $TeX$ and *emphasis* are marked as in `markup.ts`; what depends on numbers is
 * a function. A translation has the same keys: copy this folder, translate what is quoted, name it in
 * `languages.ts`.
 */
export const en = {
  ...firstEn,
  player,
  bench,
  machine,
  softmax,
  attention,
  loops,
  dropout,
  lab,
  engine,
  graph,
  train,
  quizzes,
  tiles,
  overview,
  references,
};
