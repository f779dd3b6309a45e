import { readdirSync, readFileSync } from 'node:fs';
import { operations } from '../../src/ops/table.ts';

const folder = new URL('../../src/ops/', import.meta.url);

/** A doc comment, line comments or none, and the name of the property that follows. */
const documented = /^ *\/\*\*((?:(?!\*\/)[\s\S])*)\*\/\n(?: *\/\/.*\n)* +(\w+)(?:: |,$)/gm;

/** The sentences about each operation: the doc comment of its row, which programs that run it do not load. */
export const summaries: ReadonlyMap<string, string> = readSummaries();

function readSummaries(): Map<string, string> {
  const files = readdirSync(folder, { recursive: true, encoding: 'utf8' });
  const sources = files.filter(file => /(?<!\.test)\.ts$/.test(file));
  const comments = new Map<string, string>();
  for (const file of sources) {
    for (const [, comment, name] of readFileSync(new URL(file, folder), 'utf8').matchAll(documented))
      comments.set(name, textOf(comment));
  }
  return new Map(operations.map(({ kind }) => [kind, comments.get(kind) ?? gradientSummary(kind)]));
}

function textOf(comment: string): string {
  return comment
    .replace(/^ *\* ?/gm, '')
    .replace(/\s+/g, ' ')
    .trim();
}

/** About the gradient of a function of one tensor, which has no row of its own in the source. */
function gradientSummary(kind: string): string {
  const base = kind.replace(/Backward$/, '');
  const inputs = operations.find(operation => operation.kind === kind)?.inputs.map(({ name }) => name);
  if (base === kind || inputs?.join() !== 'src,diff_dst')
    throw new Error(`the row of ${kind} has no doc comment`);
  return `The gradient of ${base} with respect to src, from src and the gradient of the result.`;
}
