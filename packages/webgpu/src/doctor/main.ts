#!/usr/bin/env node
/// <reference types="node" />
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { doctorCommand } from './command.ts';

/** Resolves Dawn's package, installed in the caller's project or beside this package. */
function findDawn(): string | undefined {
  for (const from of [join(process.cwd(), 'package.json'), import.meta.url]) {
    try {
      return createRequire(from).resolve('webgpu');
    } catch {
      // The package is not installed there.
    }
  }
  return undefined;
}

async function loadGpu(): Promise<GPU | undefined> {
  const path = findDawn();
  if (!path) return undefined;
  const dawn: { create(flags: string[]): GPU } = await import(pathToFileURL(path).href);
  const gpu = dawn.create([]);
  // Dawn ends the process if this object is garbage-collected while a device lives.
  Object.assign(globalThis, { tilewiseGpu: gpu });
  return gpu;
}

const code = await doctorCommand(process.argv.slice(2), {
  loadGpu,
  print: text => console.log(text),
  note: text => console.error(text),
});
// Dawn keeps the process alive, so it must be ended explicitly.
process.exit(code);
