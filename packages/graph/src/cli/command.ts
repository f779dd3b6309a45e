import { TilewiseError } from '@tilewise/core';
import { formatReport, onnxReport } from './onnx-report.ts';

/** The functions through which the command reads files and prints lines. */
export interface CommandHost {
  /** Returns undefined if there is no such file. */
  readonly readFile: (path: string) => Uint8Array | undefined;
  readonly print: (text: string) => void;
}

const usage = `Usage: npx @tilewise/graph onnx MODEL.onnx [--shape NAME=1,2,3]...

Prints what the partitioner finds in an ONNX model: attention with its options, the operations outside attention, memory and
floating-point operations. --shape gives the shape of an input that the model leaves open.`;

/** Runs the command and returns the exit code: 0, 1 if the model cannot be read, 2 for invalid arguments. */
export async function graphCommand(
  args: readonly string[],
  { readFile, print }: CommandHost,
): Promise<number> {
  const [command, file, ...options] = args;
  if (args.includes('--help')) {
    print(usage);
    return 0;
  }
  const shapes = shapesOf(options);
  if (command !== 'onnx' || file === undefined || file.startsWith('--') || typeof shapes === 'string') {
    print(`${faultOf(command, file, shapes)}${usage}`);
    return 2;
  }
  try {
    const folder = file.replace(/[^/\\]*$/, '');
    const read = (path: string): Uint8Array => {
      const bytes = readFile(path);
      if (!bytes) throw new Error(`There is no file ${path}.`);
      return bytes;
    };
    const externalData = (location: string): Uint8Array => {
      // The name comes from the model, which may be untrusted, so only files in the model's folder are
      // opened.
      if (!/^[^/\\]+$/.test(location) || location === '..')
        throw new Error(`The model names the file '${location}', which is not in the model's folder.`);
      return read(folder + location);
    };
    print(formatReport(await onnxReport(read(file), { shapes, externalData })));
    return 0;
  } catch (error) {
    print(error instanceof TilewiseError ? `${error.name}: ${error.message}` : (error as Error).message);
    return 1;
  }
}

/** The message before the usage text if the arguments are wrong. */
function faultOf(command: string | undefined, file: string | undefined, shapes: unknown): string {
  if (command === undefined) return '';
  if (command !== 'onnx') return `There is no command ${command}.\n\n`;
  if (file === undefined || file.startsWith('--')) return 'Name a model.\n\n';
  return `${shapes}\n\n`;
}

/** The shapes of `--shape NAME=1,2,3`, or what is wrong with an option. */
function shapesOf(options: readonly string[]): Record<string, number[]> | string {
  const shapes: Record<string, number[]> = {};
  for (let n = 0; n < options.length; n += 2) {
    const [, name, list] = /^(.+)=(\d+(?:,\d+)*)$/.exec(options[n + 1] ?? '') ?? [];
    if (options[n] !== '--shape') return `Unknown option ${options[n]}.`;
    if (name === undefined || list === undefined)
      return `--shape must be NAME=1,2,3, got '${options[n + 1] ?? ''}'.`;
    shapes[name] = list.split(',').map(Number);
  }
  return shapes;
}
