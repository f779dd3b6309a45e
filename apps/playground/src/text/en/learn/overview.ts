import { counted } from '../counted.ts';

export const overview = {
  intro: [
    'A word means little by itself. Who was tired in *“The cat that chased the mouse slept because it was very tired”*? To find out what “it” is, a model must look at the other words. Attention is how it looks: every word asks all the others, and takes most from those whose answers fit.',
    'Each word is a vector. Three small matrices turn it into three vectors: a *query* $q$ says what the word is looking for, a *key* $k$ says what others can find it by, and a *value* $v$ is what it has to give. The dot product of query $i$ and key $j$ says how well they fit: it is the *score* $S_{ij} = q_i \\cdot k_j / \\sqrt d$. Softmax turns a row of scores into weights $P_{ij}$ that sum to one. The output is the average of the values with these weights, $o_i = \\sum_j P_{ij} v_j$. For all words at once:',
  ],
  word: 'One word asks all words',
  wordWhy: [
    'Choose a word. Its query meets the keys of all twelve words. The stronger the colour of a word, the more of its value goes into the output. You can check the numbers by hand: the head size d is 3, and we made up the vectors so that the result makes sense. A real model learns its vectors; in chapter 9 you can watch it learn.',
  ],
  choose: 'The word that asks',
  looks: (word: string, most: string, share: string): string =>
    `“${word}” looks most at “${most}”: *${share}*.`,
  table: 'Scores, weights and values',
  query: (word: string, q: string): string => `q of “${word}” = ${q}`,
  key: 'Key',
  output: 'o = Σⱼ pⱼ · vⱼ',
  all: 'P: every word (down) asks every word (across)',
  allLabel: (n: number): string => `${n} times ${n} weights; the row of the chosen word is outlined`,
  scale: 'Why divide by √d?',
  scaleWhy: [
    'A dot product adds up d terms. When the terms are random, the sum grows like √d. Softmax exaggerates differences between scores: when scores lie far apart, one weight takes everything, and hardly any gradient is left to learn from. The queries and keys below are random. Move the head size d and watch.',
  ],
  headSize: 'Head size d',
  scaled: 'q·k / √d',
  unscaled: 'q·k',
  largest: (largest: string, spread: string): string =>
    `largest weight ${largest}; scores spread by ${spread}`,
  square: 'n words, n² scores',
  squareWhy: [
    'Q, K, V and the output have one row for each word. S and P have one number for each *pair* of words. All the chapters that follow are about this square, and about computing with it without ever storing it.',
  ],
  words: 'Words (n)',
  squareLabel: (n: number): string =>
    `${counted(n, 'word', 'words')}, and a square of ${counted(n * n, 'score', 'scores')}`,
  bytesCaption: 'Memory for one head, in 32-bit floats with d = 64',
};
