import type { Text } from '../text.ts';
import { attention } from './attention.ts';
import { bench } from './bench.ts';
import { dropout } from './dropout.ts';
import { engine } from './engine.ts';
import { firstDe } from './first.ts';
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

/** Die Seite auf Deutsch. */
export const de: Text = {
  ...firstDe,
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
