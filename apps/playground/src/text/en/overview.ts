export const overview = {
  intro: [
    'A word means little by itself. Who was tired in *“The cat that chased the mouse slept because it was very tired”*? To know what “it” is, a model must look at other words. Attention is this look: every word asks every word, and takes from each as much as the answer is worth.',
    'Each word is a vector. Three small matrices make three vectors of it: a *query* $q$, what the word looks for; a *key* $k$, what it is found by; and a *value* $v$, what it gives. How well key $j$ answers query $i$ is their dot product, a *score* $S_{ij} = q_i \\cdot k_j / \\sqrt d$. Softmax turns a row of scores into weights $P_{ij}$ that sum to one, and the output is the average $o_i = \\sum_j P_{ij} v_j$. For all words at once:',
  ],
  word: 'One word asks all words',
  wordWhy: [
    'Choose a word. Its query meets the keys of all twelve; the darker a word, the more of its value is taken. The numbers are small enough to check by hand: head size d = 3, and vectors that were made up so that the result makes sense. A real model learns them; in chapter 9 you can watch it.',
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
    'A dot product of d random terms grows like √d. Softmax exaggerates differences: with large scores one weight takes everything, and nothing is left to learn from. Here are random queries and keys of head size d; move it.',
  ],
  headSize: 'Head size d',
  scaled: 'q·k / √d',
  unscaled: 'q·k',
  largest: (largest: string, spread: string): string =>
    `largest weight ${largest}; scores spread by ${spread}`,
  square: 'n words, n² scores',
  squareWhy: [
    'Q, K, V and the output have a row for each word. S and P have a number for each *pair* of words. Every chapter from here on is about the square on the right, and how it can be computed without ever being there.',
  ],
  words: 'Words (n)',
  squareLabel: (n: number): string => `${n} words, and a square of ${n * n} scores`,
  bytesCaption: 'Bytes for one head, in 32-bit floats with d = 64',
};
