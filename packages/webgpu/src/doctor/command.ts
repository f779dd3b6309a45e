import { type DiagnoseOptions, diagnose, emptyFindings } from './diagnose.ts';
import type { CheckReport, Diagnosis } from './diagnosis.ts';
import { formatDiagnosis } from './format.ts';
import { missingWebGpu } from './verdict.ts';

/** The environment of the command: its GPU and its output. */
export interface CommandHost {
  /**
   * Loads the npm package webgpu (Dawn). Resolves to undefined if the package is not installed, and rejects
   * if it does not load.
   */
  readonly loadGpu: () => Promise<GPU | undefined>;
  readonly print: (text: string) => void;
  /** Prints a line about the progress, which is not part of the output. */
  readonly note: (text: string) => void;
}

const usage = `Usage: npx @tilewise/webgpu doctor [options]

Reports the adapter, features and limits of WebGPU on this machine, compares attention forward and backward with the float64
reference, and ends with a verdict.

  --thorough  checks every dtype, mask, bias and dropout
  --tiles     times the kernels' tiles, and compares the times with the cost model's predictions
  --json      prints the report as JSON
  --help      prints this help

Exit code: 0 if attention works correctly, 1 if not, or 2 if an argument is wrong. In a browser, call diagnose() of
@tilewise/webgpu/doctor.`;

/**
 * Runs the command on `navigator.gpu` if it exists, as in Deno, and otherwise on Dawn. Returns the exit code.
 */
export async function doctorCommand(
  args: readonly string[],
  { loadGpu, print, note }: CommandHost,
): Promise<number> {
  const [command, ...flags] = args;
  if (args.includes('--help')) {
    print(usage);
    return 0;
  }
  const fault = faultOf(command, flags);
  if (fault !== null) {
    print(`${fault}${usage}`);
    return 2;
  }
  const { gpu } = (globalThis as { navigator?: { gpu?: GPU } }).navigator ?? {};
  const asked = { thorough: flags.includes('--thorough'), tiles: flags.includes('--tiles') };
  const found = gpu ? { gpu, source: 'navigator.gpu' } : await loadDawn(loadGpu);
  let done = 0;
  const onCheck = ({ name }: CheckReport, of: number): void => note(`Check ${++done} of ${of}: ${name}`);
  if ('gpu' in found)
    note('Checking attention. On a software adapter, compiling the kernels can take a minute or more.');
  const diagnosis = 'gpu' in found ? await diagnose({ ...found, ...asked, onCheck }) : found;
  print(flags.includes('--json') ? JSON.stringify(diagnosis, nonFinite, 2) : formatDiagnosis(diagnosis));
  return diagnosis.status === 'ok' || diagnosis.status === 'slow' ? 0 : 1;
}

/** The message before the usage text if the arguments are wrong; null if they are right. */
function faultOf(command: string | undefined, flags: readonly string[]): string | null {
  if (command === undefined) return '';
  if (command !== 'doctor') return `There is no command ${command}.\n\n`;
  const unknown = flags.find(flag => !['--json', '--thorough', '--tiles'].includes(flag));
  if (unknown === undefined) return null;
  return `${unknown.startsWith('-') ? 'Unknown option' : 'Unexpected argument'} ${unknown}.\n\n`;
}

/** JSON has no infinite numbers, so infinite errors are written as strings. */
function nonFinite(_: string, value: unknown): unknown {
  return typeof value === 'number' && !Number.isFinite(value) ? String(value) : value;
}

/** The GPU of an npm package, or the diagnosis that there is none: Node has no `navigator.gpu`. */
async function loadDawn(
  loadGpu: CommandHost['loadGpu'],
): Promise<Diagnosis | Required<Pick<DiagnoseOptions, 'gpu' | 'source'>>> {
  const none = { ...emptyFindings, source: 'Node' };
  try {
    const gpu = await loadGpu();
    if (gpu) return { gpu, source: 'the npm package webgpu' };
    return { ...missingWebGpu('Node by itself', 'npm install webgpu adds it (Dawn)'), ...none };
  } catch (error) {
    const advice = `the npm package webgpu does not load on this machine (${String(error)}); it needs macOS, Windows, or Linux with glibc`;
    return { ...missingWebGpu('Node', advice), ...none };
  }
}
