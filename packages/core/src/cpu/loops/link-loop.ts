import type { LoopHost } from '../kernels/interface/module-host.ts';
import { hostFunctions } from './write/operators.ts';

/** Runs a loop with the numbers at an address. */
export type CompiledLoop = (numbers: number) => void;

/** Links the loop of a module to the memory of a host. */
export function linkLoop(module: WebAssembly.Module, { memory, lanes }: LoopHost): CompiledLoop {
  const imports = { env: { memory }, lanes: { ...lanes }, host: { ...hostFunctions } };
  return new WebAssembly.Instance(module, imports).exports.run as CompiledLoop;
}
