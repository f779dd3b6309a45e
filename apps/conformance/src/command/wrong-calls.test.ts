import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fixturesDir } from '@tilewise/test-data';
import { describe, expect, test } from 'vitest';
import { newFolder, run, runJson } from '../../testing/run-conformance.ts';
import { tinyCase } from '../../testing/tiny-case.ts';
import { suites } from '../suites/index.ts';

const attention = join(fixturesDir(), 'attention');
const philox = join(fixturesDir(), 'philox');

describe('a wrong call', () => {
  test('ends with 2 and the usage', async () => {
    const { code, errors } = await run('attention', '--vectors', attention, '--engine', 'cuda');
    expect(code).toBe(2);
    expect(errors[0]).toMatch(/^Usage: pnpm conformance <suite>/);
    // The message comes last, where it is still visible after a long usage.
    expect(errors[0].split('\n').at(-1)).toContain("got 'cuda'");
  });

  test('the usage of a suite has the options of this suite only', async () => {
    const { code, lines } = await run('attention', '--help');
    expect(code).toBe(0);
    expect(lines.join('\n')).toMatch(/attention: [\s\S]*--vectors DIR/);
    const { errors } = await run('attention', '--bogus');
    for (const text of [lines.join('\n'), errors.join('\n')]) expect(text).not.toContain('cudnn');
  });

  const ofVectors = suites.filter(({ options }) => 'vectors' in options).map(({ name }) => name);

  test.each(ofVectors)('%s names a folder that does not exist', async name => {
    const missing = join(newFolder(), 'missing');
    const { code, lines, errors } = await run(name, '--vectors', missing, '--json');
    expect({ code, lines }).toEqual({ code: 2, lines: [] });
    expect(errors).toEqual([`--vectors: there is no folder ${missing}.`]);
  });

  test('a suite of cases names its missing file', async () => {
    const missing = join(newFolder(), 'missing.json');
    for (const name of ['cudnn', 'onednn', 'pytorch']) {
      const more = name === 'onednn' ? ['--graphs', newFolder()] : [];
      const { code, errors } = await run(name, '--cases', missing, ...more);
      expect(code, name).toBe(2);
      expect(errors[0], name).toContain(missing);
    }
  });

  test.each(ofVectors)('%s names a folder without data', async name => {
    const { code, errors } = await run(name, '--vectors', newFolder());
    expect(code).toBe(2);
    expect(errors[0]).toMatch(/^--vectors: there is no (case|JSON file) in /);
  });

  test('a filter that matches no case is an error; a limit below all cases is not', async () => {
    const { code, lines, errors } = await run('philox', '--vectors', philox, '--filter', 'no such');
    expect({ code, lines }).toEqual({ code: 2, lines: [] });
    expect(errors[0]).toMatch(/^--filter: no case of \d+ matches 'no such'; the first is '\w.*'\.$/);
    const cases = join(newFolder(), 'cases.json');
    writeFileSync(cases, JSON.stringify([tinyCase()]));
    const { code: none, counts } = await runJson('cudnn', '--cases', cases, '--max-gflop', '0');
    expect({ none, counts }).toEqual({ none: 0, counts: { pass: 0, fail: 0, unsupported: 0, skipped: 1 } });
  });

  test('philox names a folder of other lists', async () => {
    const folder = newFolder();
    writeFileSync(join(folder, 'cases.json'), '[{ "case": "op/f32/add.json" }]');
    const { code, errors } = await run('philox', '--vectors', folder);
    expect({ code, errors }).toEqual({ code: 2, errors: [`--vectors: there is no vector in ${folder}.`] });
  });
});
