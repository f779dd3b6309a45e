import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { dirname, join, resolve, sep } from 'node:path';
import type { Tensor } from '@tilewise/core';
import { tensorFromOnnx } from '@tilewise/graph/onnx';
import { SetupError } from '../../suite.ts';

/**
 * One set of inputs and outputs of a case of ONNX's backend tests, read when they are asked for: the files of
 * sequences and optionals hold no tensor.
 */
export interface DataSet {
  readonly inputs: () => readonly Tensor[];
  readonly outputs: () => readonly Tensor[];
}

/** The subfolders that contain a `model.onnx`, by relative path. */
export function caseFolders(root: string): string[] {
  if (!existsSync(root)) throw new SetupError(`--cases: there is no folder ${root}.`);
  const found: string[] = [];
  const look = (folder: string): void => {
    if (existsSync(join(root, folder, 'model.onnx'))) {
      found.push(folder);
      return;
    }
    for (const name of readdirSync(join(root, folder)).sort()) {
      if (statSync(join(root, folder, name)).isDirectory()) look(join(folder, name));
    }
  };
  look('');
  if (found.length === 0) throw new SetupError(`--cases: no folder of ${root} has a model.onnx.`);
  return found;
}

export const modelFile = (folder: string): string => join(folder, 'model.onnx');

/**
 * A function that reads files with weights from the folder of a model, or from folders in it. The name comes
 * from the model, which may not name files elsewhere.
 * @throws Error for a path to another folder.
 */
export function weightsBeside(model: string): (location: string) => Uint8Array {
  const folder = resolve(dirname(model));
  return location => {
    const file = resolve(folder, location);
    if (!file.startsWith(folder + sep))
      throw new Error(`${model}: the weights '${location}' are in another folder`);
    return readFileSync(file);
  };
}

/** The sets `test_data_set_0`, `test_data_set_1`, … of a case. */
export function dataSets(folder: string): DataSet[] {
  const sets = readdirSync(folder)
    .filter(name => /^test_data_set_\d+$/.test(name))
    .sort();
  return sets.map(name => ({
    inputs: () => numbered(join(folder, name), 'input'),
    outputs: () => numbered(join(folder, name), 'output'),
  }));
}

function numbered(folder: string, kind: 'input' | 'output'): Tensor[] {
  const tensors: Tensor[] = [];
  for (let n = 0; existsSync(join(folder, `${kind}_${n}.pb`)); n++)
    tensors.push(tensorFromOnnx(readFileSync(join(folder, `${kind}_${n}.pb`))).tensor);
  return tensors;
}
