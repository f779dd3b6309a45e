import type { Text } from '../text.ts';
import { attention } from './attention.ts';
import { backward } from './backward.ts';
import { bench } from './bench.ts';
import { chapters } from './chapters.ts';
import { dropout } from './dropout.ts';
import { engine } from './engine.ts';
import { graph } from './graph.ts';
import { lab } from './lab.ts';
import { loops } from './loops.ts';
import { machine } from './machine.ts';
import { measure } from './measure.ts';
import { player } from './player.ts';
import { quizzes } from './quizzes.ts';
import { site } from './site.ts';
import { softmax } from './softmax.ts';
import { train } from './train.ts';

/** Die Seite auf Deutsch. */
export const de: Text = {
  site,
  chapters,
  player,
  bench,
  machine,
  softmax,
  attention,
  loops,
  backward,
  dropout,
  lab,
  engine,
  graph,
  measure,
  train,
  quizzes,
};
