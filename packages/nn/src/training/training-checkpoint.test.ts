import type { Tensor } from '@tilewise/core';
import { cpuEngine } from '@tilewise/core/cpu';
import { expect, test } from 'vitest';
import { tinyLlama } from '../../testing/tiny-model.ts';
import { readModel } from '../architectures/read-model.ts';
import { createModel } from '../create-model.ts';
import { encodeSafetensors } from '../files/checkpoint/index.ts';
import { createTrainer } from './trainer.ts';
import { loadCheckpoint, saveCheckpoint, writeCheckpoint } from './training-checkpoint.ts';

const cpu = cpuEngine({ threads: 1 });
const batch = { inputs: { tokens: [[1, 2, 3, 4, 5]] }, labels: [[1, 2, 3, 4, 5]] };
const start = (engine = cpu) =>
  createTrainer(createModel(readModel(tinyLlama), { engine }), { learningRate: 0.02 });

function joined(chunks: readonly Uint8Array[]): Uint8Array {
  return Uint8Array.from(chunks.flatMap(chunk => [...chunk]));
}

test('a checkpoint that is written in chunks is the file of saveCheckpoint', async () => {
  const trainer = start();
  await trainer.step(batch);
  const chunks: Uint8Array[] = [];
  const sizes = new Set<number>();
  const write = (chunk: Uint8Array, bytes: number): void => {
    chunks.push(chunk);
    sizes.add(bytes);
  };
  await writeCheckpoint(trainer, write, { text: 'own' });
  const file = joined(chunks);
  expect([...sizes]).toEqual([file.length]);
  expect(file).toEqual(await saveCheckpoint(trainer, { text: 'own' }));
  const { tensors, metadata, steps } = await loadCheckpoint(chunks);
  expect([steps, metadata.text]).toEqual([1, 'own']);
  expect(tensors).toEqual((await trainer.snapshot()).tensors);
});

test('a tensor is downloaded when the chunks before it are written, and events are handled between', async () => {
  let waiting = 0;
  const download = async (tensor: Tensor): Promise<Tensor> => {
    waiting++;
    return cpu.download(tensor);
  };
  const trainer = start({ ...cpu, download });
  await trainer.step(batch);
  waiting = 0;
  let events = 0;
  const timer = setInterval(() => events++);
  let chunks = 0;
  await writeCheckpoint(trainer, async () => {
    expect(waiting).toBe(chunks++ === 0 ? 0 : 1);
    await new Promise(resolve => setTimeout(resolve));
    waiting = 0;
  });
  clearInterval(timer);
  expect(chunks).toBe(1 + 3 * trainer.trained.length);
  expect(events).toBeGreaterThan(1);
});

test.each(['', ' ', '-1', '1.5', '0x10', '1e400'])('a file with the step %j is refused', async step => {
  const file = encodeSafetensors(new Map(), { step });
  await expect(loadCheckpoint(file, 'run.safetensors')).rejects.toThrow(
    "run.safetensors is not the state of a run: its metadata has no valid 'step'",
  );
});

test('steps wait until a checkpoint is written, and an error of the writer ends only that call', async () => {
  const trainer = start();
  await trainer.step(batch);
  const expected = await saveCheckpoint(trainer);
  const chunks: Uint8Array[] = [];
  const writing = writeCheckpoint(trainer, async chunk => {
    chunks.push(chunk);
  });
  const report = trainer.step(batch);
  await writing;
  expect(joined(chunks)).toEqual(expected);
  expect(await report).toMatchObject({ step: 1 });
  const full = new Error('the disk is full');
  await expect(writeCheckpoint(trainer, () => Promise.reject(full))).rejects.toBe(full);
  expect(await trainer.step(batch)).toMatchObject({ step: 2 });
});

test('tensors of a snapshot have their own memory, on engines whose tensors are views of buckets', async () => {
  const trainer = start(cpuEngine({ variant: 'typescript' }));
  await trainer.step(batch);
  for (const { data, size } of (await trainer.snapshot()).tensors.values()) expect(data.length).toBe(size);
});

test('a model in place of its trainer, and a path in place of a function, are refused by name', async () => {
  const model = createModel(readModel(tinyLlama), { engine: cpu });
  await expect(saveCheckpoint(model as never)).rejects.toThrow('trainer must be a trainer, got LoadedModel');
  await expect(writeCheckpoint(start(), 'run.safetensors' as never)).rejects.toThrow(
    'write must be a function, got "run.safetensors"',
  );
});
