import type { ArrayName } from '../puzzles/arrays.ts';
import { countersOf, countReads, headerOf } from '../puzzles/header.ts';
import type { Puzzle } from '../puzzles/puzzles.ts';
import { type CompilerError, KernelError } from './failure.ts';

/** A program that can be dispatched. */
export interface CompiledKernel {
  readonly puzzle: Puzzle;
  readonly pipeline: GPUComputePipeline;
  /** Whether the program counts its reads. */
  readonly counting: boolean;
}

/** The usage flag for compute shaders. */
const COMPUTE = 4;

const entriesOf = ({ inputs, outputs }: Puzzle): GPUBindGroupLayoutEntry[] => {
  const storage = (_: ArrayName, n: number): GPUBindGroupLayoutEntry => ({
    binding: n + 1,
    visibility: COMPUTE,
    buffer: { type: n < inputs.length ? 'read-only-storage' : 'storage' },
  });
  const sizes: GPUBindGroupLayoutEntry = { binding: 0, visibility: COMPUTE, buffer: { type: 'uniform' } };
  return [sizes, ...[...inputs, ...outputs].map(storage)];
};

/** The errors of a module, with positions relative to the text that begins after `before` lines. */
async function errorsOf(module: GPUShaderModule, before: number): Promise<CompilerError[]> {
  const { messages } = await module.getCompilationInfo();
  return messages
    .filter(({ type }) => type === 'error')
    .map(({ lineNum, linePos, length, message }) => ({
      line: Math.max(1, lineNum - before),
      column: lineNum > before ? Math.max(1, linePos) : 1,
      length: Math.max(1, length),
      message,
    }));
}

/**
 * Compiles a visitor's program under the header of its puzzle.
 *
 * @throws KernelError with the compiler's errors, or with the device's message about the pipeline.
 */
export async function compileKernel(
  device: GPUDevice,
  puzzle: Puzzle,
  program: string,
  { columns, counting = false }: { readonly columns: number; readonly counting?: boolean },
): Promise<CompiledKernel> {
  const header = `${headerOf(puzzle, columns)}\n${counting ? `${countersOf(puzzle)}\n` : ''}`;
  const text = counting ? countReads(program, puzzle.inputs) : program;
  device.pushErrorScope('validation');
  const module = device.createShaderModule({ code: `${header}${text}` });
  const errors = await errorsOf(module, header.split('\n').length - 1);
  await device.popErrorScope();
  if (errors.length > 0) throw new KernelError({ kind: 'compiler', errors });
  const counter: GPUBindGroupLayoutEntry = { binding: 0, visibility: COMPUTE, buffer: { type: 'storage' } };
  const layout = device.createPipelineLayout({
    bindGroupLayouts: [entriesOf(puzzle), ...(counting ? [[counter]] : [])].map(entries =>
      device.createBindGroupLayout({ entries }),
    ),
  });
  try {
    const pipeline = await device.createComputePipelineAsync({
      layout,
      compute: { module, entryPoint: 'main' },
    });
    return { puzzle, pipeline, counting };
  } catch (error) {
    const message = error instanceof Error ? error.message : String(error);
    throw new KernelError({ kind: 'refused', message });
  }
}
