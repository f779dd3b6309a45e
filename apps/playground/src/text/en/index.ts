import { bench } from './evaluate/bench.ts';
import { firstEn } from './first.ts';
import { attention } from './learn/attention.ts';
import { lab } from './learn/lab.ts';
import { loops } from './learn/loops.ts';
import { machine } from './learn/machine.ts';
import { overview } from './learn/overview.ts';
import { quizzes } from './learn/quizzes.ts';
import { softmax } from './learn/softmax.ts';
import { engine } from './page/engine.ts';
import { formulas } from './page/formulas.ts';
import { player } from './page/player.ts';
import { references } from './page/references.ts';
import { tiles } from './page/tiles.ts';

/**
 * The page in English. `code`, $TeX$ and *emphasis* are marked as in `markup.ts`; what depends on numbers is
 * a function. A translation has the same keys: copy this folder, translate what is quoted, name it in
 * `languages.ts`.
 */
export const en = {
  ...firstEn,
  player,
  formulas,
  bench,
  machine,
  softmax,
  attention,
  loops,
  lab,
  engine,
  quizzes,
  tiles,
  overview,
  references,
};
