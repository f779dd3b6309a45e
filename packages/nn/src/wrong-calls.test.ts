import { TilewiseError } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { filesOf, tinyLlama } from '../testing/tiny-model.ts';
import { hubFiles } from './files/hub/index.ts';
import { exportTorch } from './formats/torch/index.ts';
import * as nn from './index.ts';

const engine = cpuEngine();
const model = await nn.loadModel(filesOf(tinyLlama), { engine });
const batch = { inputs: { tokens: [[1, 2, 3]] }, labels: [[1, 2, 3]] };
const trainer = nn.createTrainer(model, { learningRate: 0.01 });
const lora = { rank: 2, alpha: 4, dropout: 0, targets: ['q_proj'], rankStabilised: false };
/** Passes a value that the types forbid, as JavaScript callers can. */
const any = (value: unknown): never => value as never;

const generated = async (prompts: unknown, options: unknown): Promise<void> => {
  for await (const _ of nn.generateBatch(model, any(prompts), any(options)));
};
const trains = (options: object): unknown => nn.createTrainer(model, any({ learningRate: 0.01, ...options }));
const labelled = (labels: unknown) => trainer.step(any({ ...batch, labels }));
const read = async (source: unknown, options?: unknown): Promise<void> => {
  for await (const _ of nn.readSafetensors(any(source), any(options)));
};

test.each<[string, () => unknown, string]>([
  // The files and the engine.
  [
    'a path for files',
    () => nn.loadModel(any('llama'), { engine }),
    'files must be the files of a model, such',
  ],
  [
    'no options',
    () => nn.loadModel(filesOf(tinyLlama), any(undefined)),
    'options must be an object, got undef',
  ],
  [
    'no engine',
    () => nn.loadModel(filesOf(tinyLlama), any({})),
    'engine must be an engine, such as cpuEngine()',
  ],
  [
    'a function',
    () => nn.createModel(model.definition, any({ engine: cpuEngine })),
    'engine must be an engine',
  ],
  [
    'a context, which has tensors but runs no graphs',
    () =>
      nn.loadModel(filesOf(tinyLlama), any({ engine: { upload: engine.upload, download: engine.download } })),
    'engine must be an engine, such as cpuEngine() or webgpuEngine(ctx), got Object',
  ],
  [
    'an adapter without an engine',
    () => nn.loadAdapter(filesOf(tinyLlama), model.layers.linear, any(undefined)),
    'engine must be an engine, such as cpuEngine() or webgpuEngine(ctx), got undefined',
  ],
  [
    'a dtype of no weights',
    () => nn.loadModel(filesOf(tinyLlama), any({ engine, dtype: 'i32' })),
    'one of f32, f',
  ],
  [
    'a model for layers',
    () => nn.loadAdapter(filesOf(tinyLlama), any(model), engine),
    'layers must be the layers.linear of a model',
  ],
  ['a path of a folder', () => nn.folderFiles(any(undefined)), 'path must be a string, got undefined'],
  ['files of a page', () => nn.givenFiles(any([1])), 'files must be a list of files, got Array'],
  ['no files of a page', () => nn.givenFiles(any(null)), 'files must be a list of files, got null'],
  ['chunks of numbers', () => nn.loadCheckpoint(any([1, 2])), 'source must have chunks of bytes, got 1'],
  [
    'an option of reading',
    () => read(new Uint8Array(8), { selct: null }),
    'selct is not an option; the options',
  ],
  ['a model on a hub', () => hubFiles(any('owner/name')), 'options must be an object, got "owner/name"'],
  ['a hub without a name', () => hubFiles(any({ revision: 'main' })), 'id must be a string, got undefined'],
  [
    'an option of a hub',
    () => hubFiles(any({ id: 'a/b', revison: 'x' })),
    'revison is not an option; the options',
  ],
  // Definitions.
  ['no configuration', () => nn.readModel(any(undefined)), 'config must be an object, got undefined'],
  [
    'a configuration',
    () => nn.createModel(any(tinyLlama), { engine }),
    'definition must be a definition, such as',
  ],
  [
    'no definition',
    () => nn.parameterShapes(any({})),
    'definition must be a definition, such as readModel(config)',
  ],
  [
    'a seed',
    () => nn.createModel(model.definition, { engine, seed: 1.5 }),
    'seed must be a bigint or a safe',
  ],
  // Generation.
  ['a text', () => generated('hello', { maxNewTokens: 1 }), 'prompts must be non-empty lists of tokens'],
  [
    'a text as a prompt',
    () => generated(['hello'], { maxNewTokens: 1 }),
    'prompts must be lists of tokens: encode',
  ],
  ['one prompt', () => generated([1, 2], { maxNewTokens: 1 }), 'prompts must be non-empty lists of tokens'],
  ['no length', () => generated([[1]], {}), 'maxNewTokens must be an integer ≥ 0, got undefined'],
  [
    'a misspelt option',
    () => generated([[1]], { maxNewTokens: 1, temprature: 1 }),
    'temprature is not an option;',
  ],
  [
    'another name',
    () => generated([[1]], { max_new_tokens: 1 }),
    'max_new_tokens is not an option; the options',
  ],
  [
    'one stop token',
    () => generated([[1]], { maxNewTokens: 1, stopTokens: 5 }),
    'stopTokens must be an array of',
  ],
  [
    'a signal',
    () => generated([[1]], { maxNewTokens: 1, signal: 5 }),
    'signal must be an AbortSignal, got 5',
  ],
  [
    'a seed of sampling',
    () => generated([[1]], { maxNewTokens: 1, seed: -1 }),
    'seed must be a bigint or a safe',
  ],
  [
    'a token',
    () => nn.chooseToken(new Float32Array(2), [], any({ top_k: 1 }), { row: 0, step: 0 }),
    'top_k is not',
  ],
  ['no model', async () => nn.saveAdapter(any({})), 'model must be a model, got Object'],
  // Batches.
  ['tokens alone', () => model.logits(any([[1, 2]])), 'inputs must be an object, got Array'],
  ['no tokens', () => model.logits(any({})), 'inputs.tokens must be given, got undefined'],
  [
    'an option of inputs',
    () => model.logits(any({ tokens: [[1]], length: [1] })),
    'length is not an option; the',
  ],
  [
    'a row of tokens',
    () => model.logits(any({ tokens: [1, 2] })),
    'tokens must be rows of at least one token, got [1,2]',
  ],
  [
    'a large token',
    () => model.logits({ tokens: [[1, 11]] }),
    'tokens must be integers from 0 to 10, got 11',
  ],
  [
    'a token below 0',
    () => model.logits({ tokens: [[1, -1]] }),
    'tokens must be integers from 0 to 10, got -1',
  ],
  ['half a token', () => model.logits({ tokens: [[1.5]] }), 'tokens must be integers from 0 to 10, got 1.5'],
  [
    'a long length',
    () => model.logits({ tokens: [[1]], lengths: [2] }),
    'array of 1 integers from 0 to 1, got [2]',
  ],
  [
    'a length too many',
    () => model.logits({ tokens: [[1]], lengths: [1, 1] }),
    'array of 1 integers from 0 to 1',
  ],
  [
    'one length',
    () => model.logits(any({ tokens: [[1]], lengths: 1 })),
    'lengths must be an array of 1 integers',
  ],
  [
    'token types',
    () => model.logits({ tokens: [[1]], tokenTypes: [[0]] }),
    'tokenTypes must be left out for this model',
  ],
  [
    'an image',
    () => model.logits(any({ tokens: [[1]], pixels: 1 })),
    'inputs.pixels must be left out for this model',
  ],
  // Labels.
  [
    'no batch',
    () => trainer.step(any(undefined)),
    'batch must be an object of inputs, labels, got undefined',
  ],
  ['no batches', () => trainer.step([]), 'batch must be at least one batch'],
  ['no labels', () => labelled(undefined), 'batch.labels must be an array of labels, or of rows of labels'],
  [
    'a misspelt label',
    () => trainer.evaluate(any({ ...batch, label: 1 })),
    'batch.label is not an option; the options',
  ],
  ['few labels', () => labelled([[1, 2]]), 'labels must have shape [1,3], got rows of length 2'],
  ['a large label', () => labelled([[1, 2, 11]]), 'labels must be integers from 0 to 10, or -100, got 11'],
  ['a label below 0', () => labelled([[1, 2, -1]]), 'labels must be integers from 0 to 10, or -100, got -1'],
  [
    'gradients of a list',
    () => trainer.gradients(any([batch])),
    'batch must be an object of inputs, labels, got Array',
  ],
  // Trainers.
  [
    'no trainer options',
    () => nn.createTrainer(model, any(undefined)),
    'options must be an object, got undefined',
  ],
  [
    'no learning rate',
    () => nn.createTrainer(model, any({})),
    'learningRate must be a number ≥ 0, or a function',
  ],
  [
    'a rate as a text',
    () => trains({ learningRate: '0.1' }),
    'learningRate must be a number ≥ 0, or a function, g',
  ],
  ['no number as a rate', () => trains({ learningRate: Number.NaN }), 'or a function, got NaN'],
  ['a misspelt option', () => trains({ lr: 0.1 }), 'lr is not an option; the options are labelSmoothing,'],
  ['another optimizer', () => trains({ optimizer: 'sgd' }), 'optimizer must be an object of kind, maxNorm'],
  [
    'another kind',
    () => trains({ optimizer: { kind: 'adam' } }),
    'optimizer.kind must be one of adamw, sgd, got "a',
  ],
  [
    'one beta',
    () => trains({ optimizer: { betas: [0.9] } }),
    'optimizer.betas must be two numbers in [0, 1)',
  ],
  [
    'a name of PyTorch',
    () => trains({ optimizer: { eps: 1e-8 } }),
    'optimizer.eps is not an option; the options are',
  ],
  [
    'the limit of a norm',
    () => trains({ optimizer: { maxNorm: -1 } }),
    'optimizer.maxNorm must be a number ≥ 0, or',
  ],
  [
    'a loss scale of 0',
    () => trains({ lossScale: 0 }),
    "lossScale must be a number > 0, or 'dynamic', got 0",
  ],
  ['much smoothing', () => trains({ labelSmoothing: 2 }), 'labelSmoothing must be in [0, 1], got 2'],
  ['a group', () => trains({ groups: [{ names: 'norm' }] }), 'groups.names must be a RegExp, got "norm"'],
  ['no state', () => trains({ from: {} }), 'from must be a state of a run, from loadCheckpoint, got Object'],
  [
    'a state with a scale of 0',
    () => trains({ from: { steps: 1, tensors: new Map(), lossScale: { value: 0, steady: 0 } } }),
    'from must be a state of a run, from loadCheckpoint, got Object',
  ],
  [
    'a state with more skipped steps than steps',
    () => trains({ from: { steps: 1, tensors: new Map(), lossScale: { value: 1, steady: 0, skipped: 2 } } }),
    'from must be a state of a run, from loadCheckpoint, got Object',
  ],
  ['rank 0', () => trains({ lora: { ...lora, rank: 0 } }), 'lora.rank must be an integer ≥ 1, got 0'],
  [
    'one target',
    () => trains({ lora: { ...lora, targets: 'q_proj' } }),
    'lora.targets must be a non-empty array',
  ],
  [
    'a name of peft',
    () => trains({ lora: { ...lora, r: 8 } }),
    'lora.r is not an option; the options are rank, alpha',
  ],
  ['half a configuration', () => trains({ lora: { rank: 2 } }), 'lora.alpha must be a number, got undefined'],
  ['no end', () => nn.train(trainer, [batch], any({})), 'steps must be an integer ≥ 1, got undefined'],
  [
    'a callback',
    () => nn.train(trainer, [], any({ steps: 9, onStep: 1 })),
    'onStep must be a function, got 1',
  ],
  [
    'evaluation',
    () => nn.train(trainer, [], any({ steps: 9, evaluation: [] })),
    'evaluation must be an object of batches, every',
  ],
  ['no batches', () => nn.train(trainer, any(batch), { steps: 9 }), 'batches must be iterable, got Object'],
  [
    'a schedule',
    () => nn.cosineSchedule(any({ peak: 1, warmUp: 5 })),
    'warmUp is not an option; the options are',
  ],
  ['no peak', () => nn.linearSchedule(any({})), 'peak must be a number ≥ 0, got undefined'],
  // Files to write.
  [
    'no tensors',
    () => nn.encodeSafetensors(any({ a: 1 })),
    'tensors must be a Map of tensors by name, got Object',
  ],
  ['a number', () => nn.saveCheckpoint(trainer, any({ a: 1 })), 'metadata.a must be a string, got 1'],
  [
    'no characters',
    () => nn.characterTokenizer(any(5)),
    'given must be a string or a list of characters, got 5',
  ],
  ['a number to encode', () => nn.characterTokenizer('ab').encode(any(5)), 'text must be a string, got 5'],
  [
    'a rate of SGD',
    () => nn.sgd(any(Object), any({ by: ['w'] })),
    'rate must be a number ≥ 0, got undefined',
  ],
  ['batches', () => exportTorch(model, any(undefined)), 'batches must be an array, got undefined'],
  [
    'an option of an export',
    () => exportTorch(model, [batch], any({ lr: 1 })),
    'lr is not an option; the options',
  ],
])('%s is refused by name', async (_, call, message) => {
  const result = (async () => call())();
  await expect(result).rejects.toBeInstanceOf(TilewiseError);
  await expect(result).rejects.toThrow(message);
});

test('a learning rate that a schedule returns is refused before the step', async () => {
  const own = nn.createTrainer(await nn.loadModel(filesOf(tinyLlama), { engine }), {
    learningRate: step => (step === 1 ? Number.NaN : 0.01),
  });
  const { loss } = await own.step(batch);
  await expect(own.step(batch)).rejects.toThrow('learningRate must be a number ≥ 0 in step 1, got NaN');
  expect((await own.evaluate(batch)).loss).toBeLessThan(loss);
});

test('a trainer that is refused leaves the model without an adapter', () => {
  expect(() => trains({ lora, groups: [{ names: /./, rate: 0 }] })).toThrow(
    'must leave a parameter to train: all rates are 0',
  );
  expect(model.adapter).toBe(null);
});
