import { counted } from '../counted.ts';

export const train = {
  intro: [
    'Nobody tells a model what to attend to: the model finds out by itself. Here a small transformer starts with random weights, and this page trains it. Every step runs a forward graph, the gradient graph derived from it, and AdamW. Both directions use flash attention: one kernel forward and three backward, as in the chapter *Backward*.',
    'The first task cannot be solved without attention. The model sees pairs of a letter and a digit, and then the letters again in another order: which digit belongs to each? Watch the loss. In about fifty steps, the loss falls to 2.3, which is what guessing gives. Then the loss only creeps down, until one head finds out where to look. From there, the loss falls to almost nothing.',
  ],
  title: 'Train a transformer',
  task: 'Task',
  tasks: { recall: 'Recall of pairs', page: 'The text of this page', own: 'A text of your own' },
  taskWhy: {
    recall: 'Only the digit after a repeated letter counts. Guessing gives an accuracy of 10%.',
    page: 'Predict the next character in the text of this page.',
    own: 'Predict the next character. Your text stays in this browser and is not part of the page’s address.',
  },
  headCount: 'Heads',
  width: 'Width',
  layers: 'Layers',
  dropout: 'Dropout',
  seed: 'Seed',
  ownText: 'Your text',
  ownPlaceholder: 'A few pages are better than a few lines.',
  ownFile: 'Or choose a text file…',
  tooShort: (given: number, fewest: number): string =>
    `A text needs at least ${fewest} characters; this one has ${given}.`,
  start: 'Train',
  pause: 'Pause',
  resume: 'Resume',
  tenSteps: 'Ten steps',
  startOver: 'Start over',
  otherSettings:
    'The run below keeps the settings that it began with. “Start over” begins a new run with the settings above.',
  keptRun: (steps: number, again: number, write: (value: number) => string): string =>
    again === steps
      ? `This browser has saved a run of ${counted(steps, 'step', 'steps', write)}. “Resume” repeats the run, with the same result, and continues.`
      : `Repeating the saved steps: ${write(again)} of ${write(steps)} left.`,
  starting: 'Getting ready…',
  failed: 'Training failed:',
  step: 'Step',
  loss: 'Loss, mean of 10 steps',
  accuracy: 'Accuracy, mean of 10 steps',
  perStep: 'One step',
  parameters: 'Parameters',
  lossCurve: 'Loss: of each step (line) and on held-out sequences (points)',
  accuracyCurve: 'Accuracy: of each step (line) and on held-out sequences (points)',
  sameCurve: (alike: number, of: number, write: (value: number) => string): string =>
    alike === of
      ? `Same seed, same curve: ${of === 1 ? 'the first step has the loss' : `all ${write(of)} steps so far have the losses`} of the previous run, to the last bit.`
      : `From step ${write(alike + 1)} on, the losses differ from those of the previous run: engines round differently.`,
  looksAt: 'What it looks at',
  looksAtWhy:
    'Each picture is a head. The picture has a row for each token, and its colour is strong where the token looks. At first, every token looks everywhere. In the recall task, look for the head in which a repeated letter finds the digit that followed it the first time.',
  head: (layer: number, head: number): string => `Layer ${layer}, head ${head}`,
  moment: 'When',
  afterSteps: (steps: number, write: (value: number) => string): string =>
    `after ${counted(steps, 'step', 'steps', write)}`,
  token: 'Token',
  looks: (token: string, most: string, at: number, share: string): string =>
    `The token ${token} looks most at ${most}, position ${at}: ${share}.`,
  ask: 'Ask it',
  askRecall:
    'Write pairs, and then one of the letters again. The model answers with the digit, as well as it has learnt to.',
  askText: 'The model continues what you write, as well as it has learnt to.',
  prompt: 'Begin with',
  temperature: 'Temperature',
  goOn: 'Continue',
  unknown: (characters: readonly string[]): string =>
    `The model has never seen ${characters.map(one => `“${one}”`).join(', ')}, so it cannot continue this text.`,
  right: 'right',
  wrong: (answer: string): string => `the answer is ${answer}`,
};
