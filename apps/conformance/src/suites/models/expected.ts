import { createReadStream, existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Tensor } from '@tilewise/core';
import type { Batch, LabelledBatch } from '@tilewise/nn';
import { readSafetensors } from '@tilewise/nn/checkpoint';

/** The expected tensors of a model, by name. */
export interface Expected {
  has(name: string): boolean;
  /** @throws Error if the folder does not have the tensor. */
  tensor(name: string): Tensor;
  readonly names: readonly string[];
}

/** Reads `expected.safetensors` of a folder. */
export async function readExpected(folder: string): Promise<Expected> {
  const file = join(folder, 'expected.safetensors');
  const tensors = new Map<string, Tensor>();
  for await (const [name, tensor] of readSafetensors(createReadStream(file), { file }))
    tensors.set(name, tensor);
  return {
    has: name => tensors.has(name),
    names: [...tensors.keys()],
    tensor(name) {
      const found = tensors.get(name);
      if (!found) throw new Error(`${file} has no tensor '${name}'`);
      return found;
    },
  };
}

/** Whether a folder contains a model and its expected tensors. */
export function isModelFolder(folder: string): boolean {
  return ['config.json', 'expected.safetensors'].every(file => existsSync(join(folder, file)));
}

/** The rows of a matrix. */
export function rowsOf(tensor: Tensor): number[][] {
  const [rows, columns] = tensor.shape;
  const values = [...tensor.toFloat64()];
  return Array.from({ length: rows }, (_, n) => values.slice(n * columns, (n + 1) * columns));
}

/** The batch on which everything was computed. */
export function batchOf(expected: Expected): LabelledBatch {
  const labels = expected.tensor('labels');
  if (expected.has('pixel_values')) {
    return { inputs: { pixels: expected.tensor('pixel_values') }, labels: [...labels.toFloat64()] };
  }
  const lengths = (mask: Tensor): number[] => rowsOf(mask).map(row => row.reduce((sum, x) => sum + x, 0));
  const inputs: Batch = {
    tokens: rowsOf(expected.tensor('input_ids')),
    ...(expected.has('attention_mask') && { lengths: lengths(expected.tensor('attention_mask')) }),
    ...(expected.has('token_type_ids') && { tokenTypes: rowsOf(expected.tensor('token_type_ids')) }),
  };
  return { inputs, labels: rowsOf(labels) };
}
