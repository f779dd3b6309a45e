import { formatReport, onnxReport } from './onnx-report.ts';

/** The functions through which the command reads files and prints lines. */
export interface CommandHost {
  /** Returns undefined if there is no such file. */
  readonly readFile: (path: string) => Uint8Array | undefined;
  readonly print: (text: string) => void;
}

const usage = `Usage: npx @tilewise/graph onnx MODEL.onnx [options]

Prints what the partitioner finds in an ONNX model: attention with its options, the operations outside attention, memory and
floating-point operations.

  --shape NAME=1,2,3  the shape of an input that the model leaves open; once for each such input
  --help              prints this help

Exit code: 0, 1 if the model cannot be read, or 2 if an argument is wrong.`;

/** Runs the command and returns the exit code: 0, 1 if the model cannot be read, 2 for invalid arguments. */
export async function graphCommand(
  args: readonly string[],
  { readFile, print }: CommandHost,
): Promise<number> {
  if (args.includes('--help')) {
    print(usage);
    return 0;
  }
  const parsed = parse(args);
  if (typeof parsed === 'string') {
    print(parsed === '' ? usage : `${parsed}\n\n${usage}`);
    return 2;
  }
  const { file, shapes } = parsed;
  try {
    const model = readFile(file);
    if (!model) {
      print(`There is no file ${file}.`);
      return 1;
    }
    const folder = file.replace(/[^/\\]*$/, '');
    const externalData = (location: string): Uint8Array => {
      // The name comes from the model, which may be untrusted, so only files in the model's folder are
      // opened.
      if (!/^[^/\\]+$/.test(location) || location === '..')
        throw new Error(`the model names the file '${location}', which is not in the model's folder`);
      const bytes = readFile(folder + location);
      if (!bytes) throw new Error(`there is no file ${folder}${location}, which the model names`);
      return bytes;
    };
    print(formatReport(await onnxReport(model, { shapes, externalData })));
    return 0;
  } catch (error) {
    print(`Cannot read ${file}: ${(error as Error).message}`);
    return 1;
  }
}

/** The file of the model, and the shapes of its inputs by name. */
interface Arguments {
  readonly file: string;
  readonly shapes: Readonly<Record<string, readonly number[]>>;
}

/** The arguments of `onnx`, or what is wrong with them; '' if there are none at all. */
function parse([command, ...words]: readonly string[]): Arguments | string {
  if (command === undefined) return '';
  if (command !== 'onnx') return `There is no command ${command}.`;
  const shapes: Record<string, number[]> = {};
  let file: string | undefined;
  for (let n = 0; n < words.length; n++) {
    const word = words[n];
    if (word === '--shape') {
      const given = words[++n] ?? '';
      const [, name, list] = /^(.+)=(\d+(?:,\d+)*)$/.exec(given) ?? [];
      if (name === undefined || list === undefined) return `--shape must be NAME=1,2,3, got '${given}'.`;
      shapes[name] = list.split(',').map(Number);
    } else if (word.startsWith('-')) return `Unknown option ${word}.`;
    else if (file !== undefined) return `Unexpected argument ${word}: the model is ${file}.`;
    else file = word;
  }
  return file === undefined ? 'Name a model.' : { file, shapes };
}
