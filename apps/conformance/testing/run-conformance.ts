import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import type { CaseResult, Counts } from '../src/cases/case.ts';
import { conformance } from '../src/command/conformance.ts';
import { suites } from '../src/suites/index.ts';

const folders: string[] = [];

afterAll(() => {
  for (const folder of folders) rmSync(folder, { recursive: true });
});

/** An empty folder that is removed after the tests. */
export function newFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'tilewise-conformance-'));
  folders.push(folder);
  return folder;
}

/** Runs the command; returns its exit code and the lines of its output. */
export async function run(...args: string[]) {
  const lines: string[] = [];
  const errors: string[] = [];
  const code = await conformance(args, suites, {
    out: line => lines.push(line),
    error: line => errors.push(line),
  });
  return { code, lines, errors };
}

/** Runs with `--json` and parses the output. */
export async function runJson(...args: string[]) {
  const { code, lines } = await run(...args, '--json');
  const parsed = lines.map(line => JSON.parse(line));
  const { counts } = parsed.pop() as { counts: Counts };
  return { code, counts, results: parsed as CaseResult[] };
}
