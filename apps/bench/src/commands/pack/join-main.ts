import { readFileSync } from 'node:fs';
import { table } from '../../suite/table.ts';
import { joinRuns } from './join.ts';

const [first, ...others] = process.argv.slice(2);
if (first === undefined || others.length === 0) {
  process.stderr.write(
    'Usage: join FIRST.jsonl OTHER.jsonl…\n\nOne table of how many times as long the others took.\n',
  );
  process.exitCode = 2;
} else {
  const linesOf = (file: string): string[] => readFileSync(file, 'utf8').split('\n');
  process.stdout.write(`${table(joinRuns(linesOf(first), others.flatMap(linesOf), 'webgpu'))}\n`);
}
