export const train = {
  intro: [
    'Attention is not written, it is learnt. Here a small transformer begins with random weights and is trained in this page: every step runs a forward graph, the gradient graph derived from it, and AdamW, with flash attention in both directions: one kernel forward, three backward, as in the chapter *Backward*.',
    'The task to begin with cannot be solved without attention. Pairs of a letter and a digit are shown, then the letters again, in another order: which digit belongs to each? Watch the loss: within some fifty steps it falls to that of guessing, 2.3, and then only creeps, until a head finds out where to look and it falls to almost nothing.',
  ],
  title: 'Train a transformer',
  task: 'Learn',
  tasks: { recall: 'Recall of pairs', page: 'The text of this page', own: 'A text of your own' },
  taskWhy: {
    recall: 'Only the digit after a repeated letter counts. Guessing gives an accuracy of 10 %.',
    page: 'The next character, everywhere, in what this page says.',
    own: 'The next character, everywhere. The text stays in this page, and is not in its address.',
  },
  headCount: 'Heads',
  width: 'Width',
  layers: 'Layers',
  dropout: 'Dropout',
  seed: 'Seed',
  ownText: 'Your text',
  ownPlaceholder: 'A few pages are better than a few lines.',
  ownFile: 'Or choose a text file…',
  start: 'Train',
  pause: 'Pause',
  resume: 'Go on',
  tenSteps: 'Ten steps',
  startOver: 'Start over',
  otherSettings:
    'The run below keeps the settings that it began with. “Start over” begins one with the settings above.',
  keptRun: (steps: number, again: number): string =>
    again === steps
      ? `This browser has kept a run of ${steps} steps. “Go on” does them again, with the same result, and continues.`
      : `Doing kept steps again: ${again} of ${steps} are left.`,
  starting: 'Getting ready…',
  failed: 'It cannot be trained:',
  step: 'Step',
  loss: 'Loss',
  accuracy: 'Accuracy',
  perStep: 'One step',
  parameters: 'Parameters',
  lossCurve: 'Loss: of each step (line), on held-out sequences (points)',
  accuracyCurve: 'Accuracy: of each step (line), on held-out sequences (points)',
  sameCurve: (alike: number, of: number): string =>
    alike === of
      ? `Same seed, same curve: all ${of} steps so far have the very loss that they had in the run before, to the last bit.`
      : `The run before had another loss from step ${alike + 1} on: engines differ in their roundings.`,
  looksAt: 'What it looks at',
  looksAtWhy:
    'Each picture is a head: a row for each token, dark where it looks. At first every token looks everywhere; in recall, look for the head in which a repeated letter finds the digit behind its first place.',
  head: (layer: number, head: number): string => `Layer ${layer}, head ${head}`,
  moment: 'When',
  afterSteps: (steps: number): string => `after ${steps} steps`,
  token: 'Token',
  looks: (token: string, most: string, at: number, share: string): string =>
    `The token ${token} looks most at ${most}, place ${at}: ${share}.`,
  ask: 'Ask it',
  askRecall: 'Pairs, and a letter again. It answers with the digit, as far as it has learnt to.',
  askText: 'It goes on with what you write, as far as it has learnt to.',
  prompt: 'Begin with',
  temperature: 'Temperature',
  goOn: 'Continue',
  right: 'right',
  wrong: (answer: string): string => `it is ${answer}`,
};
