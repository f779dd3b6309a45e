import { execFile } from 'node:child_process';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const standard = join(homedir(), '.cache/tilewise-venv/bin/python');

/**
 * A Python that has PyTorch: the one that `TILEWISE_PYTHON` names, or the one that `.ci/release` makes;
 * undefined if there is none. Tests that need it are then reported as skipped.
 */
export const python: string | undefined =
  process.env.TILEWISE_PYTHON ?? (existsSync(standard) ? standard : undefined);

/** The Python for longer tests, which run only if `TILEWISE_TORCH` is `full`, as `.ci/release` sets it. */
export const fullPython: string | undefined = process.env.TILEWISE_TORCH === 'full' ? python : undefined;

/** Runs Python in a folder and returns its output. */
export async function runPython(args: readonly string[], cwd: string): Promise<string> {
  const env = { ...process.env, OMP_NUM_THREADS: '1', PYTHONDONTWRITEBYTECODE: '1' };
  const options = { cwd, env, maxBuffer: 2 ** 26 };
  const { stdout } = await promisify(execFile)(python ?? 'python3', [...args], options);
  return stdout;
}

/** Whether a Python has a module; false if there is no Python. */
export async function hasModule(name: string, by: string | undefined): Promise<boolean> {
  if (by === undefined) return false;
  const code = `import importlib.util as u; print(u.find_spec("${name}") is not None)`;
  return (await runPython(['-c', code], tmpdir())).trim() === 'True';
}

/** The Python arguments that start the rest on several ranks of this machine; empty for one process. */
export function torchrun(ranks: number): readonly string[] {
  if (ranks === 1) return [];
  return ['-m', 'torch.distributed.run', '--standalone', '--max-restarts=2', `--nproc-per-node=${ranks}`];
}

/** The losses that an exported training program printed. */
export function printedLosses(printed: string): number[] {
  return [...printed.matchAll(/loss (\S+)/g)].map(([, loss]) => Number(loss));
}

/** Writes files into a folder, by relative path. */
export function writeFiles(folder: string, files: Readonly<Record<string, string | Uint8Array>>): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true });
    writeFileSync(join(folder, path), content);
  }
}
