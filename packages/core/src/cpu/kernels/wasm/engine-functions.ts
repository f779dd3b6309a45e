import type { HeadKernels } from '../interface/head-kernels.ts';
import type { MatrixKernels } from '../interface/matrix-kernels.ts';
import type { LaneFunctions } from '../interface/module-host.ts';
import { headFunctions } from './head-kernels.ts';
import { operationFunctions } from './operation-kernels.ts';
import { attentionExports } from './wasm-kernels.ts';

/** The modules of the kernels of an engine. */
export interface EngineModules {
  readonly attention: WebAssembly.Module;
  readonly operations: WebAssembly.Module;
  readonly heads: WebAssembly.Module;
}

/** The functions that tasks and loops call. */
export interface EngineFunctions {
  readonly matrices: MatrixKernels;
  readonly lanes: LaneFunctions;
  readonly heads: HeadKernels;
}

/** The functions of modules, linked to a memory for the thread with a given number. */
export function engineFunctions(
  { attention, operations, heads }: EngineModules,
  memory: WebAssembly.Memory,
  thread: number,
): EngineFunctions {
  const functions = operationFunctions(operations, memory);
  const kernels = attentionExports(attention, memory, thread);
  return { matrices: functions, lanes: functions, heads: headFunctions(heads, memory, kernels) };
}
