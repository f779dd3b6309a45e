import { encodeSafetensors } from '@tilewise/core';
import type { ExportedModel } from './exported-model.ts';
import type { MappedOptions } from './options.ts';

/** The files of a Python package by path: its texts and its tensors. */
export function packageFiles(
  model: ExportedModel,
  { name = 'exported', weights, batches, metadata }: MappedOptions,
  texts: Readonly<Record<string, string>>,
): Record<string, string | Uint8Array<ArrayBuffer>> {
  const own: Record<string, string | Uint8Array<ArrayBuffer>> = { '__init__.py': '', ...texts };
  if (model.constants.size > 0) own['constants.safetensors'] = encodeSafetensors(model.constants);
  if (weights) own['weights.safetensors'] = encodeSafetensors(weights, metadata);
  if (batches) {
    const named = new Map([...batches].map(([id, steps]) => [model.nameOf(id), steps]));
    own['batches.safetensors'] = encodeSafetensors(named, metadata);
  }
  return Object.fromEntries(Object.entries(own).map(([file, content]) => [`${name}/${file}`, content]));
}
